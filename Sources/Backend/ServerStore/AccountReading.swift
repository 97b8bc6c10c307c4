package import JSON

/// Reads the accounts of one state of the store.
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
    func accountToken(_ id: String, of app: AppID) throws(StoreError) -> AccountToken?
    /// By name.
    func accountTokens(of app: AppID) throws(StoreError) -> [AccountToken]
    /// The key whose secret has this digest.
    func apiKey(_ digest: [UInt8], of app: AppID) throws(StoreError) -> APIKey?
    /// The keys of a user, or those of the operator, by id.
    func apiKeys(ofUser user: UserID?, of app: AppID) throws(StoreError) -> [APIKey]
    func loginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError) -> LoginSession?
    /// Anonymous users without any session or key: they cannot log in again.
    func abandonedUsers(
        of app: AppID,
        createdBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [UserID]
    /// Whether the user has logged in from this device before.
    func isDevice(_ id: String, knownOf user: UserID, of app: AppID) throws(StoreError) -> Bool
}

/// Writes accounts in a transaction. Times are milliseconds since 1970.
package protocol AccountWriting: AccountReading {
    func insert(_ app: AppRecord, at now: Int64) throws(StoreError)
    func setSyncState(_ state: SyncState, of app: AppID) throws(StoreError)
    /// Nil: the app is one of the configuration file.
    func setDeclaration(_ declaration: String?, of app: AppID) throws(StoreError)
    func setRules(_ rules: AccessRules, of app: AppID) throws(StoreError)
    /// Removes the app, its users and all their synced data.
    func removeApp(_ app: AppID) throws(StoreError)
    func insert(_ user: User, of app: AppID, at now: Int64) throws(StoreError)
    /// The name must be free.
    func insert(
        _ account: PasswordAccount,
        named name: UserName,
        of app: AppID,
        at now: Int64
    ) throws(StoreError)
    /// Removes an unconfirmed account, with its tokens.
    func removeAccount(_ name: UserName, of app: AppID) throws(StoreError)
    func setConfirmed(_ name: UserName, of app: AppID) throws(StoreError)
    func setPassword(
        _ hash: PasswordHash,
        of name: UserName,
        of app: AppID
    ) throws(StoreError)
    /// Replaces an earlier token of the same purpose.
    func put(_ token: AccountToken, of app: AppID) throws(StoreError)
    func removeAccountToken(
        _ purpose: AccountToken.Purpose,
        of name: UserName,
        of app: AppID
    ) throws(StoreError)
    func insert(
        _ key: APIKey,
        digest: [UInt8],
        of app: AppID,
        at now: Int64
    ) throws(StoreError)
    /// False if there was none.
    @discardableResult
    func setDisabled(
        _ isDisabled: Bool,
        apiKey id: String,
        of app: AppID
    ) throws(StoreError) -> Bool
    /// False if there was none.
    @discardableResult
    func removeAPIKey(_ id: String, of app: AppID) throws(StoreError) -> Bool
    /// Gives a user another identity, which must be unused.
    func insert(_ identity: Identity, for user: UserID, of app: AppID) throws(StoreError)
    func setData(
        _ data: [String: JSONValue],
        ofUser user: UserID,
        of app: AppID
    ) throws(StoreError)
    func setDisabled(_ isDisabled: Bool, user: UserID, of app: AppID) throws(StoreError)
    /// Removes the user with its identities, accounts, keys and sessions; its names are free again.
    func removeUser(_ user: UserID, of app: AppID) throws(StoreError)
    func insert(_ session: LoginSession, of app: AppID, at now: Int64) throws(StoreError)
    func revokeLoginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError)
    func revokeLoginSessions(ofUser user: UserID, of app: AppID) throws(StoreError)
    func removeLoginSessions(of app: AppID, expiredAt time: Int64) throws(StoreError)
    /// Removes the sessions of a user beyond a number: revoked ones first, then the oldest.
    func removeOldestLoginSessions(
        ofUser user: UserID,
        of app: AppID,
        keeping limit: Int
    ) throws(StoreError)
    func removeAccountTokens(of app: AppID, createdBefore time: Int64) throws(StoreError)
}
