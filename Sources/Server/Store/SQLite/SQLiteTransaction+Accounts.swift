import JSON
import SQLite

extension SQLiteTransaction: AccountWriting {
    func app(_ id: AppID) throws(StoreError) -> AppRecord? {
        try translating {
            let row = try connection.row(
                """
                SELECT domain_id, sync_state, declaration, read_rule, write_rule FROM app
                WHERE app_id = ?
                """,
                [.text(id.rawValue)]
            )
            guard let row, case .text(let domainID) = row[0], case .text(let state) = row[1],
                case .text(let declaration) = row[2]
            else { return nil }
            guard let state = SyncState(rawValue: state) else {
                throw damaged("the sync state of app \(id)")
            }
            let keys = try connection.rows(
                "SELECT key_id, secret FROM signing_key WHERE app_id = ? ORDER BY position",
                [.text(id.rawValue)]
            )
            return AppRecord(
                id: id,
                domainID: domainID,
                keys: keys.compactMap { row in
                    guard case .text(let id) = row[0], case .blob(let secret) = row[1] else {
                        return nil
                    }
                    return SigningKey(id: id, secret: secret)
                },
                syncState: state,
                declaration: declaration.isEmpty ? nil : declaration,
                rules: AccessRules(
                    read: try rule(row[3], of: id),
                    write: try rule(row[4], of: id)
                )
            )
        }
    }

    /// A rule that cannot be read must not become none.
    private func rule(_ value: SQLite.Value, of app: AppID) throws(StoreError) -> AccessRule? {
        guard case .text(let text) = value else { return nil }
        guard let rule = try? AccessRule(text) else { throw damaged("a rule of app \(app)") }
        return rule
    }

    func setRules(_ rules: AccessRules, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE app SET read_rule = ?, write_rule = ? WHERE app_id = ?",
                [
                    rules.read.map { .text($0.text) } ?? .null,
                    rules.write.map { .text($0.text) } ?? .null, .text(app.rawValue),
                ]
            )
        }
    }

    func apps() throws(StoreError) -> [AppRecord] {
        let rows = try translating {
            try connection.rows("SELECT app_id FROM app ORDER BY app_id")
        }
        var apps: [AppRecord] = []
        for row in rows {
            guard case .text(let text) = row[0], let id = AppID(text), let app = try app(id) else {
                throw damaged("the id of an app")
            }
            apps.append(app)
        }
        return apps
    }

    func users(
        of app: AppID,
        after user: UserID?,
        limit: Int
    ) throws(StoreError) -> [User] {
        let rows = try translating {
            try connection.rows(
                """
                SELECT user_id FROM user WHERE app_id = ? AND user_id > ?
                ORDER BY user_id LIMIT ?
                """,
                [.text(app.rawValue), .text(user?.rawValue ?? ""), .integer(Int64(limit))]
            )
        }
        var users: [User] = []
        for row in rows {
            guard case .text(let id) = row[0], let user = try self.user(UserID(id), of: app) else {
                throw damaged("a user of app \(app)")
            }
            users.append(user)
        }
        return users
    }

    func user(_ id: UserID, of app: AppID) throws(StoreError) -> User? {
        try translating {
            let row = try connection.row(
                "SELECT is_disabled, kind, data FROM user WHERE app_id = ? AND user_id = ?",
                [.text(app.rawValue), .text(id.rawValue)]
            )
            guard let row, case .integer(let isDisabled) = row[0], case .text(let kind) = row[1],
                case .text(let data) = row[2]
            else { return nil }
            guard let kind = User.Kind(rawValue: kind), let data = StoredData.decode(data) else {
                throw damaged("user \(id) of app \(app)")
            }
            let rows = try connection.rows(
                """
                SELECT identity_id, provider, email FROM identity
                WHERE app_id = ? AND user_id = ? ORDER BY identity_id
                """,
                [.text(app.rawValue), .text(id.rawValue)]
            )
            return User(
                id: id,
                identities: rows.compactMap { Self.identity($0) },
                isDisabled: isDisabled != 0,
                kind: kind,
                data: data
            )
        }
    }

    private static func identity(_ row: [SQLite.Value]) -> Identity? {
        guard case .text(let id) = row[0], case .text(let provider) = row[1],
            case .text(let email) = row[2], let provider = ProviderType(rawValue: provider)
        else { return nil }
        return Identity(id: id, provider: provider, email: email)
    }

    func user(
        identifiedBy provider: ProviderType,
        _ identity: String,
        of app: AppID
    ) throws(StoreError) -> User? {
        let row = try translating {
            try connection.row(
                """
                SELECT user_id FROM identity
                WHERE app_id = ? AND provider = ? AND identity_id = ?
                """,
                [.text(app.rawValue), .text(provider.rawValue), .text(identity)]
            )
        }
        guard case .text(let id) = row?.first else { return nil }
        return try user(UserID(id), of: app)
    }

    func passwordAccount(
        _ name: UserName,
        of app: AppID
    ) throws(StoreError) -> PasswordAccount? {
        let row = try translating {
            try connection.row(
                """
                SELECT identity_id, hash, is_confirmed FROM password_account
                WHERE app_id = ? AND name = ?
                """,
                [.text(app.rawValue), .text(name.rawValue)]
            )
        }
        guard let row, case .text(let id) = row[0], case .text(let hash) = row[1],
            case .integer(let isConfirmed) = row[2]
        else { return nil }
        return PasswordAccount(
            identityID: id,
            hash: PasswordHash(text: hash),
            isConfirmed: isConfirmed != 0
        )
    }

    func loginSession(
        _ digest: SessionDigest,
        of app: AppID
    ) throws(StoreError) -> LoginSession? {
        let row = try translating {
            try connection.row(
                """
                SELECT user_id, device_id, device, is_revoked FROM login_session
                WHERE app_id = ? AND digest = ?
                """,
                [.text(app.rawValue), .blob(digest.bytes)]
            )
        }
        guard let row, case .text(let user) = row[0], case .text(let device) = row[1],
            case .text(let report) = row[2], case .integer(let isRevoked) = row[3]
        else { return nil }
        return LoginSession(
            digest: digest,
            userID: UserID(user),
            deviceID: device,
            device: report,
            isRevoked: isRevoked != 0
        )
    }

    func isDevice(
        _ id: String,
        knownOf user: UserID,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try translating {
            try connection.integer(
                """
                SELECT 1 FROM login_session WHERE app_id = ? AND user_id = ? AND device_id = ?
                LIMIT 1
                """,
                [.text(app.rawValue), .text(user.rawValue), .text(id)]
            ) != nil
        }
    }
}

// MARK: Writing

extension SQLiteTransaction {
    func insert(_ app: AppRecord, at now: Int64) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO app (app_id, domain_id, created_at, sync_state, declaration)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .text(app.id.rawValue), .text(app.domainID), .integer(now),
                    .text(app.syncState.rawValue), .text(app.declaration ?? ""),
                ]
            )
            for (position, key) in app.keys.enumerated() {
                try connection.run(
                    """
                    INSERT INTO signing_key (app_id, position, key_id, secret, created_at)
                    VALUES (?, ?, ?, ?, ?)
                    """,
                    [
                        .text(app.id.rawValue), .integer(Int64(position)), .text(key.id),
                        .blob(key.secret), .integer(now),
                    ]
                )
            }
        }
    }

    func setSyncState(_ state: SyncState, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE app SET sync_state = ? WHERE app_id = ?",
                [.text(state.rawValue), .text(app.rawValue)]
            )
        }
    }

    func setDeclaration(_ declaration: String?, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE app SET declaration = ? WHERE app_id = ?",
                [.text(declaration ?? ""), .text(app.rawValue)]
            )
        }
    }

    func removeApp(_ app: AppID) throws(StoreError) {
        try translating {
            for table in ["history", "client_file", "reciprocal", "snapshot", "object"] {
                try connection.run(
                    """
                    DELETE FROM \(table)
                    WHERE file_id IN (SELECT file_id FROM server_file WHERE app_id = ?)
                    """,
                    [.text(app.rawValue)]
                )
            }
            let tables = [
                "server_file", "api_key", "account_token", "password_account", "login_session",
                "identity", "user", "signing_key", "app",
            ]
            for table in tables {
                try connection.run(
                    "DELETE FROM \(table) WHERE app_id = ?",
                    [.text(app.rawValue)]
                )
            }
        }
    }

    func insert(_ user: User, of app: AppID, at now: Int64) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO user (app_id, user_id, is_disabled, created_at, kind, data)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .text(user.id.rawValue),
                    .integer(user.isDisabled ? 1 : 0), .integer(now),
                    .text(user.kind.rawValue), .text(StoredData.encode(user.data)),
                ]
            )
        }
        for identity in user.identities { try insert(identity, for: user.id, of: app) }
    }

    func insert(
        _ identity: Identity,
        for user: UserID,
        of app: AppID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO identity (app_id, provider, identity_id, user_id, email)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .text(identity.provider.rawValue),
                    .text(identity.id), .text(user.rawValue), .text(identity.email),
                ]
            )
        }
    }

    func setData(
        _ data: [String: JSONValue],
        ofUser user: UserID,
        of app: AppID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE user SET data = ? WHERE app_id = ? AND user_id = ?",
                [.text(StoredData.encode(data)), .text(app.rawValue), .text(user.rawValue)]
            )
        }
    }

    func insert(
        _ account: PasswordAccount,
        named name: UserName,
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO password_account
                    (app_id, name, identity_id, hash, created_at, is_confirmed)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .text(name.rawValue), .text(account.identityID),
                    .text(account.hash.text), .integer(now),
                    .integer(account.isConfirmed ? 1 : 0),
                ]
            )
        }
    }

    func setDisabled(_ isDisabled: Bool, user: UserID, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE user SET is_disabled = ? WHERE app_id = ? AND user_id = ?",
                [.integer(isDisabled ? 1 : 0), .text(app.rawValue), .text(user.rawValue)]
            )
        }
    }

    func removeUser(_ user: UserID, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                """
                DELETE FROM account_token WHERE app_id = ?1 AND name IN (
                    SELECT name FROM password_account JOIN identity USING (app_id, identity_id)
                    WHERE app_id = ?1 AND user_id = ?2 AND provider = ?3)
                """,
                [
                    .text(app.rawValue), .text(user.rawValue),
                    .text(ProviderType.emailPassword.rawValue),
                ]
            )
            try connection.run(
                """
                DELETE FROM password_account WHERE app_id = ?1 AND identity_id IN (
                    SELECT identity_id FROM identity
                    WHERE app_id = ?1 AND user_id = ?2 AND provider = ?3)
                """,
                [
                    .text(app.rawValue), .text(user.rawValue),
                    .text(ProviderType.emailPassword.rawValue),
                ]
            )
            for table in ["api_key", "login_session", "identity", "user"] {
                try connection.run(
                    "DELETE FROM \(table) WHERE app_id = ? AND user_id = ?",
                    [.text(app.rawValue), .text(user.rawValue)]
                )
            }
        }
    }

    func insert(_ session: LoginSession, of app: AppID, at now: Int64) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO login_session
                    (app_id, digest, user_id, device_id, device, is_revoked, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .blob(session.digest.bytes),
                    .text(session.userID.rawValue), .text(session.deviceID),
                    .text(session.device), .integer(session.isRevoked ? 1 : 0), .integer(now),
                ]
            )
        }
    }

    func revokeLoginSession(_ digest: SessionDigest, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE login_session SET is_revoked = 1 WHERE app_id = ? AND digest = ?",
                [.text(app.rawValue), .blob(digest.bytes)]
            )
        }
    }

    func revokeLoginSessions(ofUser user: UserID, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE login_session SET is_revoked = 1 WHERE app_id = ? AND user_id = ?",
                [.text(app.rawValue), .text(user.rawValue)]
            )
        }
    }
}
