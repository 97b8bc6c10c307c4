/// The accounts of a state of the store.
package protocol AccountReading {
    /// Nil for an app that this store has never served.
    func app(_ id: AppID) throws(StoreError) -> AppRecord?
    /// Every app that was ever served, by id.
    func apps() throws(StoreError) -> [AppRecord]
    /// Users by id, after the one named.
    func users(of app: AppID, after user: UserID?, limit: Int) throws(StoreError) -> [User]
    func user(_ id: UserID, of app: AppID) throws(StoreError) -> User?
    /// The user that an identity belongs to.
    func user(
        identifiedBy provider: ProviderType,
        _ identity: String,
        of app: AppID
    ) throws(StoreError) -> User?
    func passwordAccount(_ name: UserName, of app: AppID) throws(StoreError) -> PasswordAccount?
    func loginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError) -> LoginSession?
    /// Whether the user has logged in from this device before.
    func isDevice(_ id: String, knownOf user: UserID, of app: AppID) throws(StoreError) -> Bool
}

/// The accounts of a state in the making. Times are milliseconds since 1970.
package protocol AccountWriting: AccountReading {
    func insert(_ app: AppRecord, at now: Int64) throws(StoreError)
    func setSyncState(_ state: SyncState, of app: AppID) throws(StoreError)
    /// Nil: the app is one of the configuration file.
    func setDeclaration(_ declaration: String?, of app: AppID) throws(StoreError)
    /// Removes the app, its users and everything they have synced.
    func removeApp(_ app: AppID) throws(StoreError)
    func insert(_ user: User, of app: AppID, at now: Int64) throws(StoreError)
    /// The name must be free.
    func insert(
        _ account: PasswordAccount,
        named name: UserName,
        of app: AppID,
        at now: Int64
    ) throws(StoreError)
    func setDisabled(_ isDisabled: Bool, user: UserID, of app: AppID) throws(StoreError)
    /// Removes the user with its identities and sessions. Its account, if any, can make a new one.
    func removeUser(_ user: UserID, of app: AppID) throws(StoreError)
    func insert(_ session: LoginSession, of app: AppID, at now: Int64) throws(StoreError)
    func revokeLoginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError)
    func revokeLoginSessions(ofUser user: UserID, of app: AppID) throws(StoreError)
}
