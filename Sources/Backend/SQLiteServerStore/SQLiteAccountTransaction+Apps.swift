import SQLite
import ServerStore

extension SQLiteAccountTransaction {
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

    /// An unreadable rule must not count as no rule.
    private func rule(_ value: SQLiteValue, of app: AppID) throws(StoreError) -> AccessRule? {
        guard case .text(let text) = value else { return nil }
        guard let rule = try? AccessRule(text) else { throw damaged("a rule of app \(app)") }
        return rule
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
}
