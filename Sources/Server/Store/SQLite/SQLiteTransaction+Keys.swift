import FoundationEssentials
import JSON
import SQLite

/// API keys, and what happens to password accounts after they are made.
extension SQLiteTransaction {
    func removeAccount(_ name: UserName, of app: AppID) throws(StoreError) {
        let row: [SQLite.Value] = [.text(app.rawValue), .text(name.rawValue)]
        try translating {
            try connection.run(
                """
                DELETE FROM password_account WHERE app_id = ? AND name = ? AND is_confirmed = 0
                """,
                row
            )
            try connection.run("DELETE FROM account_token WHERE app_id = ? AND name = ?", row)
        }
    }

    func setConfirmed(_ name: UserName, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE password_account SET is_confirmed = 1 WHERE app_id = ? AND name = ?",
                [.text(app.rawValue), .text(name.rawValue)]
            )
        }
    }

    func setPassword(
        _ hash: PasswordHash,
        of name: UserName,
        of app: AppID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE password_account SET hash = ? WHERE app_id = ? AND name = ?",
                [.text(hash.text), .text(app.rawValue), .text(name.rawValue)]
            )
        }
    }

    // MARK: Tokens

    func accountToken(_ id: String, of app: AppID) throws(StoreError) -> AccountToken? {
        try accountTokens(where: "AND token_id = ?", app, [.text(id)]).first
    }

    func accountTokens(of app: AppID) throws(StoreError) -> [AccountToken] {
        try accountTokens(where: "ORDER BY name, purpose", app, [])
    }

    private func accountTokens(
        where condition: String,
        _ app: AppID,
        _ values: [SQLite.Value]
    ) throws(StoreError) -> [AccountToken] {
        let rows = try translating {
            try connection.rows(
                """
                SELECT name, purpose, token_id, token, created_at FROM account_token
                WHERE app_id = ? \(condition)
                """,
                [.text(app.rawValue)] + values
            )
        }
        return rows.compactMap { row in
            guard case .text(let name) = row[0], let name = UserName(name),
                case .text(let purpose) = row[1],
                let purpose = AccountToken.Purpose(rawValue: purpose), case .text(let id) = row[2],
                case .text(let token) = row[3], case .integer(let createdAt) = row[4]
            else { return nil }
            return AccountToken(
                name: name,
                purpose: purpose,
                id: id,
                token: token,
                createdAt: createdAt
            )
        }
    }

    func put(_ token: AccountToken, of app: AppID) throws(StoreError) {
        try translating {
            try connection.run(
                """
                REPLACE INTO account_token (app_id, name, purpose, token_id, token, created_at)
                VALUES (?, ?, ?, ?, ?, ?)
                """,
                [
                    .text(app.rawValue), .text(token.name.rawValue),
                    .text(token.purpose.rawValue), .text(token.id), .text(token.token),
                    .integer(token.createdAt),
                ]
            )
        }
    }

    func removeAccountToken(
        _ purpose: AccountToken.Purpose,
        of name: UserName,
        of app: AppID
    ) throws(StoreError) {
        try translating {
            try connection.run(
                "DELETE FROM account_token WHERE app_id = ? AND name = ? AND purpose = ?",
                [.text(app.rawValue), .text(name.rawValue), .text(purpose.rawValue)]
            )
        }
    }

    // MARK: API keys

    func apiKey(_ digest: [UInt8], of app: AppID) throws(StoreError) -> APIKey? {
        try apiKeys(where: "AND digest = ?", app, .blob(digest)).first
    }

    func apiKeys(ofUser user: UserID?, of app: AppID) throws(StoreError) -> [APIKey] {
        try apiKeys(where: "AND user_id = ? ORDER BY key_id", app, .text(user?.rawValue ?? ""))
    }

    private func apiKeys(
        where condition: String,
        _ app: AppID,
        _ value: SQLite.Value
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

/// The data of a profile at rest: a JSON object.
enum StoredData {
    static func encode(_ data: [String: JSONValue]) -> String {
        (try? data.json()).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    static func decode(_ text: String) -> [String: JSONValue]? {
        try? JSONDecoder().decode([String: JSONValue].self, from: Data(text.utf8))
    }
}
