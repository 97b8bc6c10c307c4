import JSON
import PostgreSQL
import ServerStore

/// The tables `app_user` and `identity`.
enum UserRows {
    /// Users with all their identities, one row for each identity; NULL for a user without any.
    static func reading(_ id: UserID, of app: AppID) -> Step {
        Step(
            """
            SELECT u.user_id, u.is_disabled, u.kind, u.data, i.identity_id, i.provider, i.email
            FROM app_user u
            LEFT JOIN LATERAL (
                SELECT identity_id, provider, email FROM identity
                WHERE app_id = $1 AND user_id = u.user_id OFFSET 0
            ) i ON true
            WHERE u.app_id = $1 AND u.user_id = $2
            ORDER BY i.identity_id
            """,
            [.string(app.rawValue), .string(id.rawValue)]
        )
    }

    /// By id, after the one named.
    static func reading(of app: AppID, after user: UserID?, limit: Int) -> Step {
        Step(
            """
            SELECT u.user_id, u.is_disabled, u.kind, u.data, i.identity_id, i.provider, i.email
            FROM (
                SELECT user_id, is_disabled, kind, data FROM app_user
                WHERE app_id = $1 AND user_id > $2 ORDER BY user_id LIMIT $3
            ) u
            LEFT JOIN LATERAL (
                SELECT identity_id, provider, email FROM identity
                WHERE app_id = $1 AND user_id = u.user_id OFFSET 0
            ) i ON true
            ORDER BY u.user_id, i.identity_id
            """,
            [.string(app.rawValue), .string(user?.rawValue ?? ""), .integer(Int64(max(0, limit)))]
        )
    }

    static func reading(
        identifiedBy provider: ProviderType,
        _ identity: String,
        of app: AppID
    ) -> Step {
        Step(
            """
            SELECT u.user_id, u.is_disabled, u.kind, u.data, i.identity_id, i.provider, i.email
            FROM app_user u
            LEFT JOIN LATERAL (
                SELECT identity_id, provider, email FROM identity
                WHERE app_id = $1 AND user_id = u.user_id OFFSET 0
            ) i ON true
            WHERE u.app_id = $1 AND u.user_id = (
                SELECT user_id FROM identity
                WHERE app_id = $1 AND provider = $2 AND identity_id = $3
            )
            ORDER BY i.identity_id
            """,
            [.string(app.rawValue), .string(provider.rawValue), .string(identity)]
        )
    }

    static func users(_ rows: StoredRows) throws(StoreError) -> [User] {
        var users: [User] = []
        var row = 0
        while row < rows.count {
            let id = try rows.string(row, 0)
            guard let kind = User.Kind(rawValue: try rows.string(row, 2)),
                let data = StoredData.decode(try rows.string(row, 3))
            else { throw .damaged("user \(id)") }
            let isDisabled = try rows.bool(row, 1)
            var identities: [Identity] = []
            while row < rows.count, try rows.string(row, 0) == id {
                if let identity = try identity(rows, row) { identities.append(identity) }
                row += 1
            }
            users.append(
                User(
                    id: UserID(id),
                    identities: identities,
                    isDisabled: isDisabled,
                    kind: kind,
                    data: data
                )
            )
        }
        return users
    }

    /// Nil for a user without any, and for a provider of another version.
    private static func identity(_ rows: StoredRows, _ row: Int) throws(StoreError) -> Identity? {
        guard let id = try rows.optionalString(row, 4),
            let provider = ProviderType(rawValue: try rows.string(row, 5))
        else { return nil }
        return Identity(id: id, provider: provider, email: try rows.string(row, 6))
    }

    /// Anonymous users without any session or key.
    static func readingAbandoned(of app: AppID, createdBefore time: Int64, limit: Int) -> Step {
        Step(
            """
            SELECT user_id FROM app_user u
            WHERE app_id = $1 AND created_at < $2
                AND NOT EXISTS (
                    SELECT FROM login_session
                    WHERE app_id = $1 AND user_id = u.user_id OFFSET 0)
                AND NOT EXISTS (
                    SELECT FROM identity
                    WHERE app_id = $1 AND user_id = u.user_id AND provider <> $3 OFFSET 0)
                AND NOT EXISTS (
                    SELECT FROM api_key WHERE app_id = $1 AND user_id = u.user_id OFFSET 0)
            LIMIT $4
            """,
            [
                .string(app.rawValue), .integer(time),
                .string(ProviderType.anonymous.rawValue), .integer(Int64(max(0, limit))),
            ]
        )
    }

    // MARK: Writing

    static func insertion(of user: User, in app: AppID, at now: Int64) -> [Step] {
        let row = Step(
            """
            INSERT INTO app_user (app_id, user_id, is_disabled, created_at, kind, data)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .string(app.rawValue), .string(user.id.rawValue), .bool(user.isDisabled),
                .integer(now), .string(user.kind.rawValue),
                .string(StoredData.encode(user.data)),
            ]
        )
        return [row] + user.identities.map { insertion(of: $0, for: user.id, in: app) }
    }

    static func insertion(of identity: Identity, for user: UserID, in app: AppID) -> Step {
        Step(
            """
            INSERT INTO identity (app_id, provider, identity_id, user_id, email)
            VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .string(app.rawValue), .string(identity.provider.rawValue), .string(identity.id),
                .string(user.rawValue), .string(identity.email),
            ]
        )
    }

    static func setting(_ data: [String: JSONValue], of user: UserID, in app: AppID) -> Step {
        Step(
            "UPDATE app_user SET data = $3 WHERE app_id = $1 AND user_id = $2",
            [.string(app.rawValue), .string(user.rawValue), .string(StoredData.encode(data))]
        )
    }

    static func setting(isDisabled: Bool, of user: UserID, in app: AppID) -> Step {
        Step(
            "UPDATE app_user SET is_disabled = $3 WHERE app_id = $1 AND user_id = $2",
            [.string(app.rawValue), .string(user.rawValue), .bool(isDisabled)]
        )
    }

    static func removal(of user: UserID, in app: AppID) -> [Step] {
        let owner: [Value] = [.string(app.rawValue), .string(user.rawValue)]
        let password = Value.string(ProviderType.emailPassword.rawValue)
        return [
            Step(
                """
                DELETE FROM account_token WHERE app_id = $1 AND name IN (
                    SELECT a.name FROM identity i JOIN password_account a USING (app_id, identity_id)
                    WHERE i.app_id = $1 AND i.user_id = $2 AND i.provider = $3)
                """,
                owner + [password]
            ),
            Step(
                """
                DELETE FROM password_account WHERE app_id = $1 AND identity_id IN (
                    SELECT identity_id FROM identity
                    WHERE app_id = $1 AND user_id = $2 AND provider = $3)
                """,
                owner + [password]
            ),
            Step("DELETE FROM api_key WHERE app_id = $1 AND user_id = $2", owner),
            Step("DELETE FROM login_session WHERE app_id = $1 AND user_id = $2", owner),
            Step("DELETE FROM identity WHERE app_id = $1 AND user_id = $2", owner),
            Step("DELETE FROM app_user WHERE app_id = $1 AND user_id = $2", owner),
        ]
    }
}
