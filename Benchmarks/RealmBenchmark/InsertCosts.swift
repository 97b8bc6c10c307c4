import LocalRealm
import SQLite
import Schemas

/// What each part of a class table costs a program that inserts: the constraints, the triggers that check
/// elements, and those that log.
struct InsertCosts {
    private let folder: Folder
    private let rows: Rows
    private let objects: Int

    init(_ folder: Folder, _ rows: Rows, _ objects: Int) {
        self.folder = folder
        self.rows = rows
        self.objects = objects
    }

    /// How long the inserts into a bare table take.
    @discardableResult
    func measure() throws -> Duration {
        let path = folder.file("captured-\(rows.schema.classes.count)")
        let realm = try rows.open(path)
        defer { realm.close() }
        _ = try realm.drain()

        let bare = try insert("bare", [rows.bareTable])
        let report = Report(objects: objects, bare: bare)
        report.print("insert into a bare STRICT table", bare)
        let parts = try self.parts(path)
        report.print("with constraints", try insert("constraints", parts.table + parts.indexes))
        if !parts.checks.isEmpty {
            let made = parts.table + parts.indexes + parts.checks
            report.print("with constraints and element checks", try insert("checks", made))
        }
        let program = try Connection(path: path)
        try program.execute("PRAGMA synchronous = NORMAL")
        report.print(
            "with all this and the log: with capture",
            try timed { try rows.insert(objects, into: program) }
        )
        report.print("drain", try timed { _ = try realm.drain() })
        report.print(
            "update one field with capture",
            try timed {
                try program.execute("UPDATE Item SET count = count + 1")
            }
        )
        report.print("drain the updates", try timed { _ = try realm.drain() })
        return bare
    }

    private func insert(_ name: String, _ statements: [String]) throws -> Duration {
        let connection = try Rows.plain(folder.file("\(name)-\(rows.schema.classes.count)"))
        for statement in statements { try connection.execute(statement) }
        return try timed { try rows.insert(objects, into: connection) }
    }

    /// The parts of the class table as they stand in a realm file.
    private func parts(
        _ path: String
    ) throws -> (table: [String], indexes: [String], checks: [String]) {
        let connection = try Connection(path: path)
        func texts(_ condition: String) throws -> [String] {
            try connection.rows(
                "SELECT sql FROM sqlite_schema WHERE tbl_name = 'Item' AND sql IS NOT NULL AND \(condition)"
            ).compactMap { if case .text(let sql) = $0[0] { sql } else { nil } }
        }
        return (
            try texts("type = 'table'"), try texts("type = 'index'"),
            // Those that log would need their table.
            try texts("type = 'trigger' AND name LIKE '%check' AND sql NOT LIKE '%_realm_capture%'")
        )
    }
}
