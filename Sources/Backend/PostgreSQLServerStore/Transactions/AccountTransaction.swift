import JSON
import PostgreSQL
import ServerStore

/// Reads and writes accounts in a transaction.
///
/// Writes are sent with the next read, or with COMMIT.
class AccountTransaction: AccountWriting {
    let runner: StatementRunner
    /// Expected rows, until the first write.
    var known = KnownAccounts()

    init(_ runner: StatementRunner) {
        self.runner = runner
    }

    private func write(_ steps: [Step]) throws(StoreError) {
        known = KnownAccounts()
        try runner.write(steps)
    }

    private func write(_ step: Step) throws(StoreError) {
        try write([step])
    }

    /// Writes a change that other processes must hear of, and counts it (server on PostgreSQL, 6.3).
    private func writeControl(_ steps: [Step]) throws(StoreError) {
        try write(steps + [Step("UPDATE layout SET control_epoch = control_epoch + 1")])
    }

    private func writeControl(_ step: Step) throws(StoreError) {
        try writeControl([step])
    }

    // MARK: Apps

    func app(_ id: AppID) throws(StoreError) -> AppRecord? {
        try AppRows.records(try runner.read(AppRows.reading(id))).first
    }

    func apps() throws(StoreError) -> [AppRecord] {
        try AppRows.records(try runner.read(AppRows.readingAll))
    }

    func insert(_ app: AppRecord, at now: Int64) throws(StoreError) {
        for key in app.keys { try StorableName.check(key.id) }
        try writeControl(AppRows.insertion(of: app, at: now))
    }

    func setSyncState(_ state: SyncState, of app: AppID) throws(StoreError) {
        try writeControl(AppRows.setting(state, of: app))
    }

    func setDeclaration(_ declaration: String?, of app: AppID) throws(StoreError) {
        try writeControl(AppRows.setting(declaration, of: app))
    }

    func setRules(_ rules: AccessRules, of app: AppID) throws(StoreError) {
        try writeControl(AppRows.setting(rules, of: app))
    }

    /// Without the app's files.
    func removeApp(_ app: AppID) throws(StoreError) {
        try writeControl(AppRows.removal(of: app))
    }

    // MARK: Users

    func users(
        of app: AppID,
        after user: UserID?,
        limit: Int
    ) throws(StoreError) -> [User] {
        try UserRows.users(try runner.read(UserRows.reading(of: app, after: user, limit: limit)))
    }

    func user(_ id: UserID, of app: AppID) throws(StoreError) -> User? {
        if let user = known.user(id, app) { return user }
        return try UserRows.users(try runner.read(UserRows.reading(id, of: app))).first
    }

    func user(
        identifiedBy provider: ProviderType,
        _ identity: String,
        of app: AppID
    ) throws(StoreError) -> User? {
        let step = UserRows.reading(identifiedBy: provider, identity, of: app)
        return try UserRows.users(try runner.read(step)).first
    }

    func abandonedUsers(
        of app: AppID,
        createdBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [UserID] {
        let rows = try runner.read(
            UserRows.readingAbandoned(of: app, createdBefore: time, limit: limit)
        )
        return try rows.map { row throws(StoreError) in UserID(try rows.string(row, 0)) }
    }

    func insert(_ user: User, of app: AppID, at now: Int64) throws(StoreError) {
        try StorableName.check(user.id.rawValue)
        for identity in user.identities { try StorableName.check(identity.id, identity.email) }
        try write(UserRows.insertion(of: user, in: app, at: now))
    }

    func insert(
        _ identity: Identity,
        for user: UserID,
        of app: AppID
    ) throws(StoreError) {
        try StorableName.check(identity.id, identity.email)
        try write(UserRows.insertion(of: identity, for: user, in: app))
    }

    func setData(
        _ data: [String: JSONValue],
        ofUser user: UserID,
        of app: AppID
    ) throws(StoreError) {
        try write(UserRows.setting(data, of: user, in: app))
    }

    func setDisabled(_ isDisabled: Bool, user: UserID, of app: AppID) throws(StoreError) {
        try writeControl(UserRows.setting(isDisabled: isDisabled, of: user, in: app))
    }

    func removeUser(_ user: UserID, of app: AppID) throws(StoreError) {
        try writeControl(UserRows.removal(of: user, in: app))
    }

    // MARK: Passwords

    func passwordAccount(
        _ name: UserName,
        of app: AppID
    ) throws(StoreError) -> PasswordAccount? {
        if let account = known.account(name, app) { return account }
        return try PasswordRows.account(try runner.read(PasswordRows.reading(name, of: app)))
    }

    func insert(
        _ account: PasswordAccount,
        named name: UserName,
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try StorableName.check(account.identityID)
        try write(PasswordRows.insertion(of: account, named: name, in: app, at: now))
    }

    func removeAccount(_ name: UserName, of app: AppID) throws(StoreError) {
        try write(PasswordRows.removal(of: name, in: app))
    }

    func setConfirmed(_ name: UserName, of app: AppID) throws(StoreError) {
        try write(PasswordRows.confirmation(of: name, in: app))
    }

    func setPassword(
        _ hash: PasswordHash,
        of name: UserName,
        of app: AppID
    ) throws(StoreError) {
        try write(PasswordRows.setting(hash, of: name, in: app))
    }

    func accountToken(_ id: String, of app: AppID) throws(StoreError) -> AccountToken? {
        try PasswordRows.tokens(try runner.read(PasswordRows.readingToken(id, of: app))).first
    }

    func accountTokens(of app: AppID) throws(StoreError) -> [AccountToken] {
        try PasswordRows.tokens(try runner.read(PasswordRows.readingTokens(of: app)))
    }

    func put(_ token: AccountToken, of app: AppID) throws(StoreError) {
        try StorableName.check(token.id)
        try write(PasswordRows.putting(token, in: app))
    }

    func removeAccountToken(
        _ purpose: AccountToken.Purpose,
        of name: UserName,
        of app: AppID
    ) throws(StoreError) {
        try write(PasswordRows.removal(of: purpose, of: name, in: app))
    }

    func removeAccountTokens(of app: AppID, createdBefore time: Int64) throws(StoreError) {
        try write(PasswordRows.removalOfTokens(in: app, createdBefore: time))
    }

    // MARK: API keys

    func apiKey(_ digest: [UInt8], of app: AppID) throws(StoreError) -> APIKey? {
        try APIKeyRows.keys(try runner.read(APIKeyRows.reading(digest, of: app))).first
    }

    func apiKeys(ofUser user: UserID?, of app: AppID) throws(StoreError) -> [APIKey] {
        try APIKeyRows.keys(try runner.read(APIKeyRows.reading(ofUser: user, in: app)))
    }

    func insert(
        _ key: APIKey,
        digest: [UInt8],
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try StorableName.check(key.id, key.name)
        try write(APIKeyRows.insertion(of: key, digest: digest, in: app, at: now))
    }

    func setDisabled(
        _ isDisabled: Bool,
        apiKey id: String,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try change(APIKeyRows.setting(isDisabled: isDisabled, of: id, in: app))
    }

    func removeAPIKey(_ id: String, of app: AppID) throws(StoreError) -> Bool {
        try change(APIKeyRows.removal(of: id, in: app))
    }

    private func change(_ step: Step) throws(StoreError) -> Bool {
        known = KnownAccounts()
        return try runner.run([step]).first.map { $0.changes > 0 } ?? false
    }

    // MARK: Log-in sessions

    func loginSession(
        _ digest: SessionDigest,
        of app: AppID
    ) throws(StoreError) -> LoginSession? {
        if let session = known.session(digest, app) { return session }
        return try LoginSessionRows.session(
            digest,
            try runner.read(LoginSessionRows.reading(digest, of: app))
        )
    }

    func isDevice(
        _ id: String,
        knownOf user: UserID,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try !runner.read(LoginSessionRows.reading(device: id, of: user, in: app)).isEmpty
    }

    func insert(_ session: LoginSession, of app: AppID, at now: Int64) throws(StoreError) {
        try StorableName.check(session.deviceID)
        try write(LoginSessionRows.insertion(of: session, in: app, at: now))
    }

    func revokeLoginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError) {
        try writeControl(LoginSessionRows.revocation(of: digest, in: app))
    }

    func revokeLoginSessions(ofUser user: UserID, of app: AppID) throws(StoreError) {
        try writeControl(LoginSessionRows.revocation(of: user, in: app))
    }

    func removeLoginSessions(of app: AppID, expiredAt time: Int64) throws(StoreError) {
        try write(LoginSessionRows.removal(in: app, expiredAt: time))
    }

    func removeOldestLoginSessions(
        ofUser user: UserID,
        of app: AppID,
        keeping limit: Int
    ) throws(StoreError) {
        try write(LoginSessionRows.removalOfOldest(of: user, in: app, keeping: limit))
    }
}
