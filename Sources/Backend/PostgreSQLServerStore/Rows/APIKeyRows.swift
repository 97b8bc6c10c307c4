import PostgreSQL
import ServerStore

/// The table `api_key`; a key of the operator has an empty user.
enum APIKeyRows {
    static func reading(_ digest: [UInt8], of app: AppID) -> Step {
        Step(
            """
            SELECT key_id, user_id, name, is_disabled FROM api_key
            WHERE app_id = $1 AND digest = $2
            """,
            [.string(app.rawValue), .bytes(digest)]
        )
    }

    static func reading(ofUser user: UserID?, in app: AppID) -> Step {
        Step(
            """
            SELECT key_id, user_id, name, is_disabled FROM api_key
            WHERE app_id = $1 AND user_id = $2 ORDER BY key_id
            """,
            [.string(app.rawValue), .string(user?.rawValue ?? "")]
        )
    }

    static func keys(_ rows: StoredRows) throws(StoreError) -> [APIKey] {
        try rows.map { row throws(StoreError) in
            let user = try rows.string(row, 1)
            return APIKey(
                id: try rows.string(row, 0),
                owner: user.isEmpty ? nil : UserID(user),
                name: try rows.string(row, 2),
                isDisabled: try rows.bool(row, 3)
            )
        }
    }

    static func insertion(of key: APIKey, digest: [UInt8], in app: AppID, at now: Int64) -> Step {
        Step(
            """
            INSERT INTO api_key (app_id, key_id, user_id, name, digest, is_disabled, created_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """,
            [
                .string(app.rawValue), .string(key.id), .string(key.owner?.rawValue ?? ""),
                .string(key.name), .bytes(digest), .bool(key.isDisabled), .integer(now),
            ]
        )
    }

    static func setting(isDisabled: Bool, of id: String, in app: AppID) -> Step {
        Step(
            "UPDATE api_key SET is_disabled = $3 WHERE app_id = $1 AND key_id = $2",
            [.string(app.rawValue), .string(id), .bool(isDisabled)]
        )
    }

    static func removal(of id: String, in app: AppID) -> Step {
        Step(
            "DELETE FROM api_key WHERE app_id = $1 AND key_id = $2",
            [.string(app.rawValue), .string(id)]
        )
    }
}
