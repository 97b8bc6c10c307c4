internal import Changesets
internal import SQLite
internal import Schemas

/// The SQL that creates a class's table, its indexes and the triggers that capture writes (local
/// realm, 2, 3 and 10).
struct TableDefinition {
    let table: ClassTable
    /// Defines the embedded objects.
    let schema: RealmSchema
    /// Whether no subscription names the class (flexible sync, 10).
    let deniesInserts: Bool
    /// Whether programs may only read the table.
    let isReadOnly: Bool
    /// Whether triggers have the texts that earlier versions wrote.
    private var isFormer = false

    init(_ table: ClassTable, _ catalogue: Catalogue) {
        self.table = table
        self.schema = catalogue.schema
        self.deniesInserts = catalogue.deniesInserts(into: table)
        self.isReadOnly = catalogue.isReadOnly
    }

    /// A schema object with its own name in the file.
    struct Part: Hashable {
        let name: String
        /// As SQLite stores it, so it can be compared with the file.
        let sql: String
    }

    var createTable: String {
        let columns =
            [ColumnDefinition.key(of: table)]
            + table.columns.map { ColumnDefinition.property($0, of: table) }
        return """
            CREATE TABLE \(name)(
              \(columns.joined(separator: ",\n  "))
            ) STRICT
            """
    }

    func addColumn(at position: Int) -> String {
        let column = ColumnDefinition.property(table.columns[position], of: table)
        return "ALTER TABLE \(name) ADD COLUMN \(column)"
    }

    /// The indexes that find the links to a deleted object, and the one that keeps a null key
    /// unique.
    var indexes: [Part] {
        var parts: [Part] = []
        if table.key.isNullable {
            let index = "_realm_n_\(table.id)"
            parts.append(
                Part(
                    name: index,
                    sql: """
                        CREATE UNIQUE INDEX "\(index)" ON \(name)((\(key) IS NULL)) \
                        WHERE \(key) IS NULL
                        """
                )
            )
        }
        for column in table.columns {
            guard case .link = column.type else { continue }
            let index = "_realm_x_\(column.id)"
            let quoted = SQLText.name(column.columnName)
            parts.append(
                Part(
                    name: index,
                    sql: """
                        CREATE INDEX "\(index)" ON \(name)(\(quoted)) WHERE \(quoted) IS NOT NULL
                        """
                )
            )
        }
        return parts
    }

    var triggers: [Part] { (isReadOnly ? readOnlyTriggers : []) + captureTriggers }

    /// Whether an earlier version wrote this trigger: it does the same, and takes more time.
    func isFormer(_ trigger: Part) -> Bool {
        var former = self
        former.isFormer = true
        return former.triggers.contains(trigger)
    }

    private var captureTriggers: [Part] {
        if table.isAsymmetric { return checkTrigger + [insertTrigger] + finalTriggers }
        let updates = table.columns.map { updateTrigger(of: $0) }
        if table.key.type == .globalKey {
            return [keyTrigger, refusedInsertTrigger, deleteTrigger] + updates
        }
        return [keyTrigger] + denyTrigger + checkTrigger
            + [isFormer ? formerExistsTrigger : existsTrigger, insertTrigger, deleteTrigger]
            + updates
    }

    private var name: String { SQLText.name(table.tableName) }
    private var key: String { SQLText.name(table.keyColumn) }
}

// MARK: Triggers

extension TableDefinition {
    /// The key of an object never changes.
    private var keyTrigger: Part {
        let name = table.key.type == .globalKey ? table.keyColumn : "\(table.key.name)"
        let message = "\(table.name).\(name) is the primary key and cannot change"
        return trigger(
            "key",
            """
            BEFORE UPDATE OF \(key) ON \(self.name) WHEN OLD.\(key) IS NOT NEW.\(key) BEGIN
              SELECT RAISE(ABORT, \(SQLText.string(message)));
            END
            """
        )
    }

    /// Refuse every write of a program; the agent's own connection runs no triggers.
    var readOnlyTriggers: [Part] {
        let message = "the realm is read-only on this machine (read_only)"
        return ["INSERT", "UPDATE", "DELETE"].map { event in
            trigger(
                "readonly_\(event.lowercased())",
                """
                BEFORE \(event) ON \(name) BEGIN
                  SELECT RAISE(ABORT, \(SQLText.string(message)));
                END
                """
            )
        }
    }

    var denyTriggerName: String { "_realm_\(table.id)_deny" }

    /// Removes them from every table: the file leaves flexible sync.
    static func dropDenyTriggers(on connection: Connection) throws(SQLiteError) {
        let rows = try connection.rows(
            """
            SELECT name FROM sqlite_schema
            WHERE type = 'trigger' AND name GLOB '\(Layout.prefix)[0-9]*_deny'
            """
        )
        for case .text(let name) in rows.map({ $0[0] }) {
            try connection.execute("DROP TRIGGER \(SQLText.name(name))")
        }
    }

    /// Without a subscription the server would undo the insert (flexible sync, 10).
    private var denyTrigger: [Part] {
        guard deniesInserts else { return [] }
        let message =
            "Cannot write to class \(table.name) when no flexible sync subscription has been created."
        return [
            trigger(
                "deny",
                """
                BEFORE INSERT ON \(name) BEGIN
                  SELECT RAISE(ABORT, \(SQLText.string(message)));
                END
                """
            )
        ]
    }

    /// Checks the elements of JSON columns, which no CHECK can do.
    ///
    /// After the insert, so that its CHECK rejects a text that is not JSON first.
    private var checkTrigger: [Part] {
        let checks = table.columns.compactMap { elementCheck(of: $0) }
        guard !checks.isEmpty else { return [] }
        return [
            trigger("check", "AFTER INSERT ON \(name) BEGIN\(checks.joined())\nEND")
        ]
    }

    /// The statement that refuses a new value for its elements; nil if no element can be wrong.
    private func elementCheck(of column: Column) -> String? {
        guard
            let check = ElementCheck(
                column.type,
                acceptsNull: column.property.acceptsNull,
                subject: "\(table.name).\(column.name)",
                schema,
                isFormer: isFormer
            )
        else { return nil }
        return check.statement(on: "NEW.\(SQLText.name(column.columnName))")
    }

    /// The objects of an asymmetric class are sent and deleted, never changed.
    private var finalTriggers: [Part] {
        [("final", "UPDATE"), ("final_delete", "DELETE")].map { kind, event in
            let message =
                "objects of \(table.name) are sent as they were inserted, and cannot change"
            return trigger(
                kind,
                """
                BEFORE \(event) ON \(name) BEGIN
                  SELECT RAISE(ABORT, \(SQLText.string(message)));
                END
                """
            )
        }
    }

    /// Only the server numbers the objects of a class without primary key.
    private var refusedInsertTrigger: Part {
        let message = "\(table.name) has no primary key: its objects can only come from the server"
        return trigger(
            "insert",
            """
            BEFORE INSERT ON \(name) BEGIN
              SELECT RAISE(ABORT, \(SQLText.string(message)));
            END
            """
        )
    }

    /// An INSERT that meets an existing row may replace it: the old values are logged before they go.
    ///
    /// One statement for all columns: SQLite clears the registers of all statements of a trigger for each
    /// inserted row, also if it does not exist. One for each of ten columns was a quarter of an insert's
    /// instructions (`Benchmarks/capture.py`).
    private var existsTrigger: Part {
        let columns = table.columns.map { ($0.id, SQLText.name($0.columnName)) }
        guard !columns.isEmpty else { return formerExistsTrigger }
        let marks = ([CaptureMark.existed] + columns.map { $0.0 }).map { "(\($0))" }
            .joined(separator: ", ")
        let olds = columns.map { id, name in "\n        WHEN \(id) THEN r.\(name)" }
        let tests = columns.map { id, name in
            "\n        WHEN \(id) THEN r.\(name) IS NOT NEW.\(name)"
        }
        return trigger(
            "exists",
            """
            BEFORE INSERT ON \(name)
            WHEN EXISTS (SELECT 1 FROM \(name) WHERE \(isExisting)) BEGIN
              INSERT INTO _realm_capture(class, key, prop, old)
                SELECT \(table.id), r.\(key), c.column1, CASE c.column1\(olds.joined()) END
                FROM \(name) r CROSS JOIN (VALUES \(marks)) c
                WHERE r.\(isExisting) AND CASE c.column1 WHEN \(CaptureMark.existed) THEN 1\(tests.joined()) END;
            END
            """
        )
    }

    private var isExisting: String {
        "\(key) \(table.key.isNullable ? "IS" : "=") NEW.\(key)"
    }

    private var formerExistsTrigger: Part {
        let rows = table.columns.map { column in
            let value = SQLText.name(column.columnName)
            return """

                  INSERT INTO _realm_capture(class, key, prop, old)
                    SELECT \(table.id), \(key), \(column.id), \(value) FROM \(name)
                    WHERE \(isExisting) AND \(value) IS NOT NEW.\(value);
                """
        }
        return trigger(
            "exists",
            """
            BEFORE INSERT ON \(name)
            WHEN EXISTS (SELECT 1 FROM \(name) WHERE \(isExisting)) BEGIN
              INSERT INTO _realm_capture(class, key, prop) VALUES (\(table.id), NEW.\(key), \
            \(CaptureMark.existed));\(rows.joined())
            END
            """
        )
    }

    private var insertTrigger: Part {
        trigger(
            "insert",
            """
            AFTER INSERT ON \(name) BEGIN
              INSERT INTO _realm_capture(class, key, prop) VALUES (\(table.id), NEW.\(key), \
            \(CaptureMark.inserted));
            END
            """
        )
    }

    private var deleteTrigger: Part {
        trigger(
            "delete",
            """
            AFTER DELETE ON \(name) BEGIN
              INSERT INTO _realm_capture(class, key, prop) VALUES (\(table.id), OLD.\(key), \
            \(CaptureMark.deleted));
            END
            """
        )
    }

    /// One trigger for each column: SQLite compiles only those of the columns that an UPDATE names.
    private func updateTrigger(of column: Column) -> Part {
        let value = SQLText.name(column.columnName)
        return trigger(
            "u\(column.id)",
            """
            AFTER UPDATE OF \(value) ON \(name) WHEN OLD.\(value) IS NOT NEW.\(value) BEGIN\
            \(elementCheck(of: column) ?? "")
              INSERT INTO _realm_capture(class, key, prop, old) VALUES (\(table.id), OLD.\(key), \
            \(column.id), OLD.\(value));
            END
            """
        )
    }

    private func trigger(_ kind: String, _ definition: String) -> Part {
        let trigger = "_realm_\(table.id)_\(kind)"
        return Part(name: trigger, sql: "CREATE TRIGGER \"\(trigger)\" \(definition)")
    }
}

/// The values of `prop` in a log row that are not the id of a property (local realm, 3.1).
enum CaptureMark {
    static let inserted: Int64 = 0
    static let deleted: Int64 = -1
    /// An INSERT met an existing row.
    static let existed: Int64 = -2
}
