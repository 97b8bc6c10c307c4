import PostgreSQL
import ServerStore

/// The tables `app` and `signing_key`.
enum AppRows {
    /// An app's row, and its keys in order.
    static func reading(_ id: AppID) -> [Step] {
        [
            Step(
                """
                SELECT app_id, domain_id, sync_state, declaration, read_rule, write_rule FROM app
                WHERE app_id = $1
                """,
                [.string(id.rawValue)]
            ),
            Step(
                """
                SELECT app_id, key_id, secret FROM signing_key WHERE app_id = $1 ORDER BY position
                """,
                [.string(id.rawValue)]
            ),
        ]
    }

    /// The rows of all apps, and the keys of all.
    static var readingAll: [Step] {
        [
            Step(
                """
                SELECT app_id, domain_id, sync_state, declaration, read_rule, write_rule FROM app
                ORDER BY app_id
                """
            ),
            Step("SELECT app_id, key_id, secret FROM signing_key ORDER BY app_id, position"),
        ]
    }

    /// The records of both statements.
    static func records(_ rows: [StoredRows]) throws(StoreError) -> [AppRecord] {
        guard rows.count == 2 else { return [] }
        let (apps, keyRows) = (rows[0], rows[1])
        var keys: [String: [SigningKey]] = [:]
        for row in 0..<keyRows.count {
            let key = SigningKey(id: try keyRows.string(row, 1), secret: try keyRows.bytes(row, 2))
            keys[try keyRows.string(row, 0), default: []].append(key)
        }
        return try apps.map { row throws(StoreError) in
            let name = try apps.string(row, 0)
            guard let id = AppID(name) else { throw .damaged("the id of an app") }
            guard let state = SyncState(rawValue: try apps.string(row, 2)) else {
                throw .damaged("the sync state of app \(id)")
            }
            let declaration = try apps.string(row, 3)
            return AppRecord(
                id: id,
                domainID: try apps.string(row, 1),
                keys: keys[name] ?? [],
                syncState: state,
                declaration: declaration.isEmpty ? nil : declaration,
                rules: AccessRules(
                    read: try rule(try apps.optionalString(row, 4), of: id),
                    write: try rule(try apps.optionalString(row, 5), of: id)
                )
            )
        }
    }

    /// An unreadable rule must not count as no rule.
    private static func rule(_ text: String?, of app: AppID) throws(StoreError) -> AccessRule? {
        guard let text else { return nil }
        guard let rule = try? AccessRule(text) else { throw .damaged("a rule of app \(app)") }
        return rule
    }

    // MARK: Writing

    static func insertion(of app: AppRecord, at now: Int64) -> [Step] {
        let row = Step(
            """
            INSERT INTO app (app_id, domain_id, created_at, sync_state, declaration)
            VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .string(app.id.rawValue), .string(app.domainID), .integer(now),
                .string(app.syncState.rawValue), .string(app.declaration ?? ""),
            ]
        )
        let keys = app.keys.enumerated().map { position, key in
            Step(
                """
                INSERT INTO signing_key (app_id, position, key_id, secret, created_at)
                VALUES ($1, $2::int8, $3, $4, $5)
                """,
                [
                    .string(app.id.rawValue), .integer(Int64(position)), .string(key.id),
                    .bytes(key.secret), .integer(now),
                ]
            )
        }
        return [row] + keys
    }

    /// Above that of each file: earlier versions counted in the files alone.
    static func beginningGeneration(of app: AppID) -> Step {
        Step(
            """
            UPDATE app SET epoch = epoch + 1, generation = 1 + greatest(generation, (
                SELECT coalesce(max(generation), 0) FROM server_file WHERE app_id = $1))
            WHERE app_id = $1
            """,
            [.string(app.rawValue)]
        )
    }

    static func setting(_ state: SyncState, of app: AppID) -> Step {
        Step(
            "UPDATE app SET sync_state = $2, epoch = epoch + 1 WHERE app_id = $1",
            [.string(app.rawValue), .string(state.rawValue)]
        )
    }

    static func setting(_ declaration: String?, of app: AppID) -> Step {
        Step(
            "UPDATE app SET declaration = $2, epoch = epoch + 1 WHERE app_id = $1",
            [.string(app.rawValue), .string(declaration ?? "")]
        )
    }

    static func setting(_ rules: AccessRules, of app: AppID) -> Step {
        Step(
            "UPDATE app SET read_rule = $2, write_rule = $3, epoch = epoch + 1 WHERE app_id = $1",
            [.string(app.rawValue), .string(rules.read?.text), .string(rules.write?.text)]
        )
    }

    /// Removes everything of the app but its files and what belongs to them.
    static func removal(of app: AppID) -> [Step] {
        let id = [Value.string(app.rawValue)]
        return [
            Step("DELETE FROM api_key WHERE app_id = $1", id),
            Step("DELETE FROM account_token WHERE app_id = $1", id),
            Step("DELETE FROM password_account WHERE app_id = $1", id),
            Step("DELETE FROM login_session WHERE app_id = $1", id),
            Step("DELETE FROM identity WHERE app_id = $1", id),
            Step("DELETE FROM app_user WHERE app_id = $1", id),
            Step("DELETE FROM signing_key WHERE app_id = $1", id),
            Step("DELETE FROM app WHERE app_id = $1", id),
        ]
    }
}
