internal import SQLite

/// The application's triggers that also run on changes of the server (local realm, 3.3).
///
/// The agent's connection runs no trigger of the file. Those that the configuration names are copied into
/// triggers of the connection itself, which run. Triggers on the tables that they write stay silent, so they
/// must not write classes: such writes would never be captured.
final class RemoteTriggers {
    private let connection: Connection
    /// In the order of the configuration.
    private let names: [String]
    /// `PRAGMA schema_version` when the copies were made; nil if they must be made again.
    private var schemaVersion: Int64?
    /// The problems of the last report.
    private var problems: [String] = []

    init(_ names: [String], on connection: Connection) {
        self.names = names
        self.connection = connection
    }

    var isEmpty: Bool { names.isEmpty }

    /// Makes the copies follow the file, and returns what is wrong with them if that has changed.
    ///
    /// Copies belong to the transaction: after a rollback call ``forget()``.
    func refresh(_ catalogue: Catalogue) throws(SQLiteError) -> SchemaNotice? {
        guard !names.isEmpty else { return nil }
        let current = try connection.integer("PRAGMA schema_version")
        guard current != schemaVersion else { return nil }
        for name in names {
            try connection.execute("DROP TRIGGER IF EXISTS temp.\(Connection.quoted(name))")
        }
        var problems: [String] = []
        // One after the other: a failure is the fault of the last.
        for name in names {
            if let problem = try copy(name, catalogue) { problems.append(problem) }
        }
        schemaVersion = current
        guard problems != self.problems else { return nil }
        self.problems = problems
        return problems.isEmpty ? nil : .remoteTriggers(problems)
    }

    /// The transaction that may have made copies was rolled back.
    func forget() {
        schemaVersion = nil
    }

    /// Copies a trigger; returns why it cannot be used, or nil if it can.
    private func copy(_ name: String, _ catalogue: Catalogue) throws(SQLiteError) -> String? {
        let row = try connection.row(
            "SELECT sql, tbl_name FROM main.sqlite_schema WHERE type = 'trigger' AND name = ?1",
            [.text(name)]
        )
        guard case .text(let sql)? = row?[0], case .text(let tableName)? = row?[1],
            let table = catalogue.tables.first(where: {
                $0.tableName.lowercased() == tableName.lowercased()
            })
        else { return "there is no trigger \(name) on a class" }
        // SQLite stores the text as `CREATE TRIGGER NAME …`.
        try connection.execute("CREATE TEMP \(sql.dropFirst("CREATE ".count))")
        guard let problem = problem(with: name, on: table, catalogue) else { return nil }
        try connection.execute("DROP TRIGGER temp.\(Connection.quoted(name))")
        return problem
    }

    /// Compiles the statements that run the trigger.
    private func problem(
        with name: String,
        on table: ClassTable,
        _ catalogue: Catalogue
    ) -> String? {
        let target = Connection.quoted(table.tableName)
        let key = Connection.quoted(table.keyColumn)
        let columns = table.columns.map { Connection.quoted($0.columnName) }
        var statements = [
            "INSERT INTO \(target)(\(key)) VALUES (NULL)", "DELETE FROM \(target)",
        ]
        if !columns.isEmpty {
            let assignments = columns.map { "\($0) = \($0)" }.joined(separator: ", ")
            statements.append("UPDATE \(target) SET \(assignments)")
        }
        let classTables = Set(catalogue.tables.map { $0.tableName.lowercased() })
        for statement in statements {
            do throws(SQLiteError) {
                for write in try connection.writes(of: statement) where write.trigger == name {
                    let written = write.table.lowercased()
                    if classTables.contains(written) || written.hasPrefix(Layout.prefix) {
                        return "trigger \(name) writes \(write.table), which would not be uploaded"
                    }
                }
            } catch {
                return "trigger \(name) cannot run: \(error.message)"
            }
        }
        return nil
    }
}

extension RemoteTriggers {
    /// A copy refused a change of the server.
    struct Refusal: Error {
        let cause: SQLiteError
    }

    /// The agent's own writes violate no constraint: one that fails is a trigger's.
    static func explained(_ error: any Error) -> any Error {
        guard let cause = error as? SQLiteError, cause.condition == .constraint else {
            return error
        }
        return Refusal(cause: cause)
    }
}
