package import AppServices
package import SQLite

/// Accounts with their tokens.
extension MetadataDatabase {
    /// The account of a configured user; nil if it never logged in to this app, was logged out, or has
    /// no tokens any more.
    package func account(of user: String, appID: String) throws(SQLiteError) -> Account? {
        try Self.account(of: user, appID: appID, on: connection)
    }

    /// The same without writing: the file stays as it is, even with an older layout.
    package static func account(
        of user: String,
        appID: String,
        inFile path: String
    ) throws(SQLiteError) -> Account? {
        let connection = try Connection(path: path, .init(mode: .readOnly))
        defer { connection.close() }
        return try account(of: user, appID: appID, on: connection)
    }

    private static func account(
        of user: String,
        appID: String,
        on connection: Connection
    ) throws(SQLiteError) -> Account? {
        let row = try connection.row(
            """
            SELECT user_id, device_id, provider, access_token, refresh_token, identities, profile
            FROM user
            WHERE name = ? AND app_id = ? AND state IN ('logged-in', 'expired')
            """,
            [.text(user), .text(appID)]
        )
        guard case .text(let userID)? = row?[0], case .text(let deviceID)? = row?[1],
            case .text(let provider)? = row?[2],
            case .text(let access)? = row?[3], let accessToken = Token(access),
            case .text(let refresh)? = row?[4], let refreshToken = Token(refresh)
        else { return nil }
        return Account(
            userID: userID,
            deviceID: deviceID,
            provider: provider,
            accessToken: accessToken,
            refreshToken: refreshToken,
            profile: row?[5].text.flatMap {
                Profile(identitiesText: $0, data: row?[6].text ?? "{}")
            }
        )
    }

    package func save(
        _ account: Account,
        of user: String,
        appID: String,
        at seconds: Int64
    ) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO user(name, app_id, user_id, device_id, provider, state,
                access_token, refresh_token, logged_in_at, identities, profile)
            VALUES (?, ?, ?, ?, ?, 'logged-in', ?, ?, ?, ?, ?)
            """,
            [
                .text(user), .text(appID), .text(account.userID), .text(account.deviceID),
                .text(account.provider), .text(account.accessToken.text),
                .text(account.refreshToken.text), .integer(seconds),
                .init(account.profile?.identitiesText), .init(account.profile?.data),
            ]
        )
    }

    /// Deletes the tokens. After an operator's log-out, only an operator may log the user in again;
    /// else the agent does.
    func forgetTokens(of user: String, byOperator: Bool = false) throws(SQLiteError) {
        try connection.run(
            """
            UPDATE user SET state = ?, access_token = NULL, refresh_token = NULL WHERE name = ?
            """,
            [.text(byOperator ? "logged-out" : "expired"), .text(user)]
        )
    }

    /// Notes that the server refuses the tokens, and keeps them.
    func markRefused(user: String) throws(SQLiteError) {
        try connection.run("UPDATE user SET state = 'expired' WHERE name = ?", [.text(user)])
    }

    func isRefused(user: String, appID: String) throws(SQLiteError) -> Bool {
        try isInState("expired", user: user, appID: appID)
    }

    func remove(user: String) throws(SQLiteError) {
        try connection.run("DELETE FROM user WHERE name = ?", [.text(user)])
    }

    /// Notes a log-out of a user that never logged in, too.
    func logOut(user: String, appID: String, at seconds: Int64) throws(SQLiteError) {
        try connection.run(
            """
            INSERT INTO user(name, app_id, user_id, device_id, provider, state, logged_in_at)
            VALUES (?, ?, '', '', '', 'logged-out', ?) ON CONFLICT(name) DO NOTHING
            """,
            [.text(user), .text(appID), .integer(seconds)]
        )
        try forgetTokens(of: user, byOperator: true)
    }

    /// Every user that has or had an account.
    package func users() throws(SQLiteError) -> [StoredUser] {
        try connection.rows(
            """
            SELECT name, app_id, user_id, provider, state, logged_in_at, identities FROM user
            ORDER BY name
            """
        ).map { row in
            StoredUser(
                name: row[0].text ?? "",
                appID: row[1].text ?? "",
                userID: row[2].text ?? "",
                provider: row[3].text ?? "",
                state: row[4].text ?? "",
                loggedInAt: row[5].integer ?? 0,
                identities: row[6].text ?? "[]"
            )
        }
    }

    func isLoggedOut(user: String, appID: String) throws(SQLiteError) -> Bool {
        try isInState("logged-out", user: user, appID: appID)
    }

    private func isInState(
        _ state: String,
        user: String,
        appID: String
    ) throws(SQLiteError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM user WHERE name = ? AND app_id = ? AND state = ?",
            [.text(user), .text(appID), .text(state)]
        ) == 1
    }

    /// The last response of the location route of that base URL.
    package func location(appID: String, baseURL: String) throws(SQLiteError) -> Location? {
        let row = try connection.row(
            "SELECT hostname, ws_hostname FROM location WHERE app_id = ? AND base_url = ?",
            [.text(appID), .text(baseURL)]
        )
        guard let row, let httpHost = row[0].text, let syncRoute = row[1].text else { return nil }
        return Location(httpHost: httpHost, syncRoute: syncRoute)
    }

    /// Stores the response of the location route, for a start without one.
    package func keep(
        _ location: Location,
        appID: String,
        baseURL: String,
        at seconds: Int64
    ) throws(SQLiteError) {
        try connection.run(
            """
            INSERT OR REPLACE INTO location(app_id, base_url, hostname, ws_hostname, fetched_at)
            VALUES (?, ?, ?, ?, ?)
            """,
            [
                .text(appID), .text(baseURL), .text(location.httpHost), .text(location.syncRoute),
                .integer(seconds),
            ]
        )
    }
}

/// A user's record in the metadata database, without secrets.
package struct StoredUser: Equatable, Sendable {
    package let name: String
    package let appID: String
    package let userID: String
    package let provider: String
    /// `logged-in`; `expired` if the server has ended the log-in; `logged-out` by an operator.
    package let state: String
    /// Seconds since 1970.
    package let loggedInAt: Int64
    /// JSON.
    package let identities: String
}

/// One configured user's account in the metadata database.
package struct MetadataAccountStore: AccountStore {
    let database: MetadataDatabase
    let user: String
    let appID: String
    /// Seconds since 1970.
    let now: @Sendable () -> Int64

    package init(
        database: MetadataDatabase,
        user: String,
        appID: String,
        now: @escaping @Sendable () -> Int64
    ) {
        self.database = database
        self.user = user
        self.appID = appID
        self.now = now
    }

    package func load() async throws -> Account? {
        try await database.account(of: user, appID: appID)
    }

    package func save(_ account: Account) async throws {
        try await database.save(account, of: user, appID: appID, at: now())
    }

    package func forgetTokens() async throws {
        try await database.forgetTokens(of: user)
    }

    package func markRefused() async throws {
        try await database.markRefused(user: user)
    }

    package func isRefused() async throws -> Bool {
        try await database.isRefused(user: user, appID: appID)
    }

    package func isLoggedOut() async throws -> Bool {
        try await database.isLoggedOut(user: user, appID: appID)
    }

    package func logOut() async throws {
        try await database.logOut(user: user, appID: appID, at: now())
    }

    package func remove() async throws {
        try await database.remove(user: user)
    }
}
