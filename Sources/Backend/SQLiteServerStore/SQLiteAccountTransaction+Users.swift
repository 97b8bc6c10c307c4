import JSON
import SQLite
import ServerStore

/// Users and their identities.
extension SQLiteAccountTransaction {
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

    private static func identity(_ row: [SQLiteValue]) -> Identity? {
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

    func insert(_ user: User, of app: AppID, at now: Int64) throws(StoreError) {
        try StorableName.check(user.id.rawValue)
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
        try StorableName.check(identity.id, identity.email)
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
}
