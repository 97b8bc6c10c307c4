internal import SQLite

/// Changing the default of existing columns.
extension SchemaEditor {
    /// Applies the declared defaults to rows that programs insert from now on; existing rows keep
    /// their values.
    ///
    /// ALTER TABLE cannot do it, and a recreated table would lose what the application has attached
    /// to it. So the text of the definition is edited, as SQLite's documentation of ALTER TABLE
    /// describes for changes that leave the content of the file as it is.
    mutating func renewDefaults() throws {
        for table in catalogue.tables {
            let changed = try changedDefaults(of: table)
            guard !changed.isEmpty, let sql = try definition(of: table.tableName) else { continue }
            var edited = sql
            for (column, stored) in changed {
                edited = Self.replacingDefault(of: column, stored, of: table, in: edited)
            }
            guard edited != sql else { continue }
            try writeOutDefaults(of: table)
            try replaceDefinition(of: table.tableName, with: edited)
            hasChangedTables = true
        }
    }

    /// The columns whose default in the file is not the declared one, with the one in the file.
    private func changedDefaults(
        of table: ClassTable
    ) throws(SQLiteError) -> [(column: Column, stored: String?)] {
        let rows = try connection.rows(
            "SELECT name, dflt_value FROM pragma_table_info(?1)",
            [.text(table.tableName)]
        )
        var stored: [String: String] = [:]
        for case (.text(let name), .text(let text)) in rows.map({ ($0[0], $0[1]) }) {
            stored[name] = text
        }
        return table.columns.compactMap { column in
            let text = stored[column.columnName]
            let wanted = ColumnDefinition.defaultText(column)
            // An expression is reported without its parentheses.
            if text == wanted || text.map({ "(\($0))" }) == wanted { return nil }
            return (column, text)
        }
    }

    private static func replacingDefault(
        of column: Column,
        _ stored: String?,
        of table: ClassTable,
        in sql: String
    ) -> String {
        let wanted = ColumnDefinition.property(column, of: table)
        for text in [stored, stored.map { "(\($0))" }] {
            let found = ColumnDefinition.property(column, of: table, defaultText: text)
            if sql.contains(found) { return sql.replacing(found, with: wanted, maxReplacements: 1) }
        }
        return sql
    }

    private func definition(of tableName: String) throws(SQLiteError) -> String? {
        let row = try connection.row(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1",
            [.text(tableName)]
        )
        if case .text(let sql) = row?[0] { return sql }
        return nil
    }

    /// A row older than a column reads as the default in the definition: it gets a value of its
    /// own.
    private func writeOutDefaults(of table: ClassTable) throws(SQLiteError) {
        let key = SQLText.name(table.keyColumn)
        try connection.execute("UPDATE \(SQLText.name(table.tableName)) SET \(key) = \(key)")
    }

    private func replaceDefinition(of tableName: String, with sql: String) throws(SQLiteError) {
        let version = try connection.integer("PRAGMA schema_version") ?? 0
        try connection.execute("PRAGMA writable_schema = ON")
        do {
            try connection.run(
                "UPDATE sqlite_schema SET sql = ?1 WHERE type = 'table' AND name = ?2",
                [.text(sql), .text(tableName)]
            )
            // So that every connection, this one included, reloads the definitions.
            try connection.execute("PRAGMA schema_version = \(version + 1)")
        } catch {
            try connection.execute("PRAGMA writable_schema = OFF")
            throw error
        }
        try connection.execute("PRAGMA writable_schema = RESET")
    }
}
