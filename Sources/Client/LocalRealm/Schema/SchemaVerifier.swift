internal import Changesets
internal import SQLite
internal import Schemas

/// Compares the tables, indexes and triggers of the file with the definitions of the catalogue
/// (local realm, 7.4).
struct SchemaVerifier {
    let connection: Connection
    let catalogue: Catalogue

    struct Findings: Hashable {
        /// Tables and columns that are missing or changed.
        var alterations: [String] = []
        /// Triggers and indexes that are missing or changed, which can be recreated; writes may
        /// have gone uncaptured.
        var repairable: [String] = []
        /// Whether a trigger is missing, without which writes are not captured.
        var lacksTriggers = false
        /// Whether triggers have the texts of an earlier version: nothing was lost.
        var hasFormerTriggers = false
        /// Columns of class tables that are the application's own.
        var applicationColumns: [String] = []
        /// Applications' UNIQUE indexes on class tables, which remote rows could violate.
        var uniqueIndexes: [String] = []
    }

    func verify() throws(SQLiteError) -> Findings {
        var findings = Findings()
        let stored = try storedParts()
        for table in catalogue.tables {
            let definition = TableDefinition(table, catalogue)
            guard try check(table, &findings) else { continue }
            // Without these, writes are captured all the same.
            let refusing = Set(
                definition.readOnlyTriggers.map(\.name) + [definition.denyTriggerName]
            )
            for part in definition.triggers {
                if let text = stored[part.name], text != part.sql,
                    definition.isFormer(.init(name: part.name, sql: text))
                {
                    findings.hasFormerTriggers = true
                    continue
                }
                check("trigger", part, stored, &findings)
                if stored[part.name] == nil, !refusing.contains(part.name) {
                    findings.lacksTriggers = true
                }
            }
            if !definition.deniesInserts, stored[definition.denyTriggerName] != nil {
                findings.repairable.append("trigger \(definition.denyTriggerName) is left over")
            }
            for part in definition.indexes {
                check("index", part, stored, &findings)
            }
            try findUniqueIndexes(of: table, &findings)
        }
        return findings
    }

    /// The text of the agent's triggers and indexes, by name.
    private func storedParts() throws(SQLiteError) -> [String: String] {
        let rows = try connection.rows(
            """
            SELECT name, sql FROM sqlite_schema
            WHERE type IN ('trigger', 'index') AND substr(name, 1, 7) = '\(Layout.prefix)'
            """
        )
        var parts: [String: String] = [:]
        for case (.text(let name), .text(let sql)) in rows.map({ ($0[0], $0[1]) }) {
            parts[name] = sql
        }
        return parts
    }

    private func check(
        _ type: String,
        _ part: TableDefinition.Part,
        _ stored: [String: String],
        _ findings: inout Findings
    ) {
        switch stored[part.name] {
        case nil: findings.repairable.append("\(type) \(part.name) is missing")
        case part.sql: break
        default: findings.repairable.append("\(type) \(part.name) was changed")
        }
    }

    /// False if there is no such table.
    private func check(
        _ table: ClassTable,
        _ findings: inout Findings
    ) throws(SQLiteError) -> Bool {
        let rows = try connection.rows(
            "SELECT name, type, \"notnull\", pk FROM pragma_table_info(?1)",
            [.text(table.tableName)]
        )
        guard !rows.isEmpty else {
            findings.alterations.append("table \(table.tableName) is missing")
            return false
        }
        var columns: [String: [SQLiteValue]] = [:]
        for row in rows {
            if case .text(let name) = row[0] { columns[name] = Array(row[1...]) }
        }
        for expected in expectedColumns(of: table) {
            switch columns.removeValue(forKey: expected.name) {
            case nil:
                findings.alterations.append(
                    "column \(table.tableName).\(expected.name) is missing"
                )
            case expected.facts: break
            default:
                findings.alterations.append(
                    "column \(table.tableName).\(expected.name) was changed"
                )
            }
        }
        // A column of the application's own is allowed: it is not synced.
        findings.applicationColumns += columns.keys.sorted().map { "\(table.tableName).\($0)" }
        return true
    }

    private func expectedColumns(of table: ClassTable) -> [(name: String, facts: [SQLiteValue])] {
        let keyType = table.key.type == .int ? "INT" : "TEXT"
        let key: (String, [SQLiteValue]) = (
            table.keyColumn,
            [
                .text(keyType), .integer(table.key.isNullable ? 0 : 1),
                .integer(table.key.isNullable ? 0 : 1),
            ]
        )
        return [key]
            + table.columns.map { column in
                (
                    column.columnName,
                    [
                        .text(ColumnDefinition.storage(column)),
                        .integer(column.isNullable ? 0 : 1), 0,
                    ]
                )
            }
    }

    private func findUniqueIndexes(
        of table: ClassTable,
        _ findings: inout Findings
    ) throws(SQLiteError) {
        let rows = try connection.rows(
            """
            SELECT name FROM pragma_index_list(?1)
            WHERE "unique" AND origin = 'c' AND substr(name, 1, 7) <> '\(Layout.prefix)'
            """,
            [.text(table.tableName)]
        )
        for case .text(let name) in rows.map({ $0[0] }) {
            findings.uniqueIndexes.append("\(name) on \(table.tableName)")
        }
    }
}
