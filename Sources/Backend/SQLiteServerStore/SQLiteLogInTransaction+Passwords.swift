import SQLite
import ServerStore

/// Password accounts, and the tokens for their owners.
extension SQLiteLogInTransaction {
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

    func insert(
        _ account: PasswordAccount,
        named name: UserName,
        of app: AppID,
        at now: Int64
    ) throws(StoreError) {
        try StorableName.check(account.identityID)
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

    func removeAccount(_ name: UserName, of app: AppID) throws(StoreError) {
        let row: [SQLiteValue] = [.text(app.rawValue), .text(name.rawValue)]
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
        _ values: [SQLiteValue]
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
        try StorableName.check(token.id)
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

    func removeAccountTokens(of app: AppID, createdBefore time: Int64) throws(StoreError) {
        try translating {
            try connection.run(
                "DELETE FROM account_token WHERE app_id = ? AND created_at < ?",
                [.text(app.rawValue), .integer(time)]
            )
        }
    }
}
