package import JSON
package import ServerStore

// MARK: Reading

extension ScopedTransaction: AccountReading {
    package func app(_ id: AppID) throws(StoreError) -> AppRecord? {
        try transaction.app(id)
    }

    package func apps() throws(StoreError) -> [AppRecord] {
        try transaction.apps()
    }

    package func users(
        of app: AppID,
        after user: UserID?,
        limit: Int
    ) throws(StoreError) -> [User] {
        try transaction.users(of: app, after: user, limit: limit)
    }

    package func user(_ id: UserID, of app: AppID) throws(StoreError) -> User? {
        try transaction.user(id, of: app)
    }

    package func user(
        identifiedBy provider: ProviderType,
        _ identity: String,
        of app: AppID
    ) throws(StoreError) -> User? {
        try transaction.user(identifiedBy: provider, identity, of: app)
    }

    package func passwordAccount(
        _ name: UserName,
        of app: AppID
    ) throws(StoreError) -> PasswordAccount? {
        try transaction.passwordAccount(name, of: app)
    }

    package func accountToken(_ id: String, of app: AppID) throws(StoreError) -> AccountToken? {
        try transaction.accountToken(id, of: app)
    }

    package func accountTokens(of app: AppID) throws(StoreError) -> [AccountToken] {
        try transaction.accountTokens(of: app)
    }

    package func apiKey(_ digest: [UInt8], of app: AppID) throws(StoreError) -> APIKey? {
        try transaction.apiKey(digest, of: app)
    }

    package func apiKeys(ofUser user: UserID?, of app: AppID) throws(StoreError) -> [APIKey] {
        try transaction.apiKeys(ofUser: user, of: app)
    }

    package func loginSession(
        _ digest: SessionDigest,
        of app: AppID
    ) throws(StoreError) -> LoginSession? {
        try transaction.loginSession(digest, of: app)
    }

    package func abandonedUsers(
        of app: AppID,
        createdBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [UserID] {
        try transaction.abandonedUsers(of: app, createdBefore: time, limit: limit)
    }

    package func isDevice(
        _ id: String,
        knownOf user: UserID,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try transaction.isDevice(id, knownOf: user, of: app)
    }
}

// MARK: Writing

extension ScopedTransaction: AccountWriting {
    package func insert(_ app: AppRecord, at now: Int64) throws(StoreError) {
        try requireWhole(app.id)
        try transaction.insert(app, at: now)
    }

    package func setSyncState(_ state: SyncState, of app: AppID) throws(StoreError) {
        try requireWhole(app)
        try transaction.setSyncState(state, of: app)
    }

    package func setDeclaration(_ declaration: String?, of app: AppID) throws(StoreError) {
        try requireWhole(app)
        try transaction.setDeclaration(declaration, of: app)
    }

    package func setRules(_ rules: AccessRules, of app: AppID) throws(StoreError) {
        try requireWhole(app)
        try transaction.setRules(rules, of: app)
    }

    package func removeApp(_ app: AppID) throws(StoreError) {
        try requireWhole(app)
        try transaction.removeApp(app)
    }

    package func insert(_ user: User, of app: AppID, at now: Int64) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.insert(user, of: app, at: now)
    }

    package func insert(
        _ account: PasswordAccount,
        named name: UserName,
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.insert(account, named: name, of: app, at: now)
    }

    package func removeAccount(_ name: UserName, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.removeAccount(name, of: app)
    }

    package func setConfirmed(_ name: UserName, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.setConfirmed(name, of: app)
    }

    package func setPassword(
        _ hash: PasswordHash,
        of name: UserName,
        of app: AppID
    ) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.setPassword(hash, of: name, of: app)
    }

    package func put(_ token: AccountToken, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.put(token, of: app)
    }

    package func removeAccountToken(
        _ purpose: AccountToken.Purpose,
        of name: UserName,
        of app: AppID
    ) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.removeAccountToken(purpose, of: name, of: app)
    }

    package func insert(
        _ key: APIKey,
        digest: [UInt8],
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.insert(key, digest: digest, of: app, at: now)
    }

    package func setDisabled(
        _ isDisabled: Bool,
        apiKey id: String,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try requireAccounts(of: app)
        return try transaction.setDisabled(isDisabled, apiKey: id, of: app)
    }

    package func removeAPIKey(_ id: String, of app: AppID) throws(StoreError) -> Bool {
        try requireAccounts(of: app)
        return try transaction.removeAPIKey(id, of: app)
    }

    package func insert(_ identity: Identity, for user: UserID, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.insert(identity, for: user, of: app)
    }

    package func setData(
        _ data: [String: JSONValue],
        ofUser user: UserID,
        of app: AppID
    ) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.setData(data, ofUser: user, of: app)
    }

    package func setDisabled(_ isDisabled: Bool, user: UserID, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.setDisabled(isDisabled, user: user, of: app)
    }

    package func removeUser(_ user: UserID, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.removeUser(user, of: app)
    }

    package func insert(_ session: LoginSession, of app: AppID, at now: Int64) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.insert(session, of: app, at: now)
    }

    package func revokeLoginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.revokeLoginSession(digest, of: app)
    }

    package func revokeLoginSessions(ofUser user: UserID, of app: AppID) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.revokeLoginSessions(ofUser: user, of: app)
    }

    package func removeLoginSessions(of app: AppID, expiredAt time: Int64) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.removeLoginSessions(of: app, expiredAt: time)
    }

    package func removeOldestLoginSessions(
        ofUser user: UserID,
        of app: AppID,
        keeping limit: Int
    ) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.removeOldestLoginSessions(ofUser: user, of: app, keeping: limit)
    }

    package func removeAccountTokens(of app: AppID, createdBefore time: Int64) throws(StoreError) {
        try requireAccounts(of: app)
        try transaction.removeAccountTokens(of: app, createdBefore: time)
    }
}
