import SQLite
import ServerStore

/// API keys.
extension SQLiteAccountTransaction {
    func apiKey(_ digest: [UInt8], of app: AppID) throws(StoreError) -> APIKey? {
        try apiKeys(where: "AND digest = ?", app, .blob(digest)).first
    }

    func apiKeys(ofUser user: UserID?, of app: AppID) throws(StoreError) -> [APIKey] {
        try apiKeys(where: "AND user_id = ? ORDER BY key_id", app, .text(user?.rawValue ?? ""))
    }

    private func apiKeys(
        where condition: String,
        _ app: AppID,
        _ value: SQLiteValue
    ) throws(StoreError) -> [APIKey] {
        let rows = try translating {
            try connection.rows(
                """
                SELECT key_id, user_id, name, is_disabled FROM api_key
                WHERE app_id = ? \(condition)
                """,
                [.text(app.rawValue), value]
            )
        }
        return rows.compactMap { row in
            guard case .text(let id) = row[0], case .text(let user) = row[1],
                case .text(let name) = row[2], case .integer(let isDisabled) = row[3]
            else { return nil }
            return APIKey(
                id: id,
                owner: user.isEmpty ? nil : UserID(user),
                name: name,
                isDisabled: isDisabled != 0
            )
        }
    }

    func insert(
        _ key: APIKey,
        digest: [UInt8],
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try StorableName.check(key.id, key.name)
        try translating {
            try connection.run(
                """
                INSERT INTO api_key
                    (app_id, key_id, user_id, name, digest, is_disabled, created_at)
                VALUES (?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .text(key.id), .text(key.owner?.rawValue ?? ""),
                    .text(key.name), .blob(digest), .integer(key.isDisabled ? 1 : 0),
                    .integer(now),
                ]
            )
        }
    }

    func setDisabled(
        _ isDisabled: Bool,
        apiKey id: String,
        of app: AppID
    ) throws(StoreError) -> Bool {
        try translating {
            try !connection.rows(
                "UPDATE api_key SET is_disabled = ? WHERE app_id = ? AND key_id = ? RETURNING 1",
                [.integer(isDisabled ? 1 : 0), .text(app.rawValue), .text(id)]
            ).isEmpty
        }
    }

    func removeAPIKey(_ id: String, of app: AppID) throws(StoreError) -> Bool {
        try translating {
            try !connection.rows(
                "DELETE FROM api_key WHERE app_id = ? AND key_id = ? RETURNING 1",
                [.text(app.rawValue), .text(id)]
            ).isEmpty
        }
    }
}
