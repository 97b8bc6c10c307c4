import PostgreSQL
import ServerStore

/// The tables `password_account` and `account_token`.
enum PasswordRows {
    static func reading(_ name: UserName, of app: AppID) -> Step {
        Step(
            """
            SELECT identity_id, hash, is_confirmed FROM password_account
            WHERE app_id = $1 AND name = $2
            """,
            [.string(app.rawValue), .string(name.rawValue)]
        )
    }

    static func account(_ rows: StoredRows) throws(StoreError) -> PasswordAccount? {
        guard !rows.isEmpty else { return nil }
        return PasswordAccount(
            identityID: try rows.string(0, 0),
            hash: PasswordHash(text: try rows.string(0, 1)),
            isConfirmed: try rows.bool(0, 2)
        )
    }

    static func insertion(
        of account: PasswordAccount,
        named name: UserName,
        in app: AppID,
        at now: Int64
    ) -> Step {
        Step(
            """
            INSERT INTO password_account (app_id, name, identity_id, hash, created_at, is_confirmed)
            VALUES ($1, $2, $3, $4, $5, $6)
            """,
            [
                .string(app.rawValue), .string(name.rawValue), .string(account.identityID),
                .string(account.hash.text), .integer(now), .bool(account.isConfirmed),
            ]
        )
    }

    /// Removes an unconfirmed account, with its tokens.
    static func removal(of name: UserName, in app: AppID) -> [Step] {
        let key: [Value] = [.string(app.rawValue), .string(name.rawValue)]
        return [
            Step(
                """
                DELETE FROM password_account
                WHERE app_id = $1 AND name = $2 AND NOT is_confirmed
                """,
                key
            ),
            Step("DELETE FROM account_token WHERE app_id = $1 AND name = $2", key),
        ]
    }

    static func confirmation(of name: UserName, in app: AppID) -> Step {
        Step(
            "UPDATE password_account SET is_confirmed = true WHERE app_id = $1 AND name = $2",
            [.string(app.rawValue), .string(name.rawValue)]
        )
    }

    static func setting(_ hash: PasswordHash, of name: UserName, in app: AppID) -> Step {
        Step(
            "UPDATE password_account SET hash = $3 WHERE app_id = $1 AND name = $2",
            [.string(app.rawValue), .string(name.rawValue), .string(hash.text)]
        )
    }

    // MARK: Tokens

    static func readingToken(_ id: String, of app: AppID) -> Step {
        Step(
            """
            SELECT name, purpose, token_id, token, created_at FROM account_token
            WHERE app_id = $1 AND token_id = $2
            """,
            [.string(app.rawValue), .string(id)]
        )
    }

    static func readingTokens(of app: AppID) -> Step {
        Step(
            """
            SELECT name, purpose, token_id, token, created_at FROM account_token
            WHERE app_id = $1 ORDER BY name, purpose
            """,
            [.string(app.rawValue)]
        )
    }

    static func tokens(_ rows: StoredRows) throws(StoreError) -> [AccountToken] {
        try rows.map { row throws(StoreError) in
            guard let name = UserName(try rows.string(row, 0)),
                let purpose = AccountToken.Purpose(rawValue: try rows.string(row, 1))
            else { throw .damaged("a token of an account") }
            return AccountToken(
                name: name,
                purpose: purpose,
                id: try rows.string(row, 2),
                token: try rows.string(row, 3),
                createdAt: try rows.integer(row, 4)
            )
        }
    }

    /// Replaces an earlier token of the same purpose.
    static func putting(_ token: AccountToken, in app: AppID) -> Step {
        Step(
            """
            INSERT INTO account_token (app_id, name, purpose, token_id, token, created_at)
            VALUES ($1, $2, $3, $4, $5, $6)
            ON CONFLICT (app_id, name, purpose) DO UPDATE SET token_id = excluded.token_id,
                token = excluded.token, created_at = excluded.created_at
            """,
            [
                .string(app.rawValue), .string(token.name.rawValue),
                .string(token.purpose.rawValue), .string(token.id), .string(token.token),
                .integer(token.createdAt),
            ]
        )
    }

    static func removal(
        of purpose: AccountToken.Purpose,
        of name: UserName,
        in app: AppID
    ) -> Step {
        Step(
            "DELETE FROM account_token WHERE app_id = $1 AND name = $2 AND purpose = $3",
            [.string(app.rawValue), .string(name.rawValue), .string(purpose.rawValue)]
        )
    }

    static func removalOfTokens(in app: AppID, createdBefore time: Int64) -> Step {
        Step(
            "DELETE FROM account_token WHERE app_id = $1 AND created_at < $2",
            [.string(app.rawValue), .integer(time)]
        )
    }
}
