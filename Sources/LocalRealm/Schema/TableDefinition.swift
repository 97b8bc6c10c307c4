internal import Changesets
internal import Schemas

/// The SQL that makes a class's table, its indexes and the triggers that capture what programs write
/// (local realm, 2, 3 and 10).
struct TableDefinition {
    let table: ClassTable

    /// Something with a name of its own in the file.
    struct Part: Hashable {
        let name: String
        /// As SQLite stores it, too: what is found in the file can be compared with it.
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

    /// The indexes that find the objects which link to one that was deleted, and the one that keeps
    /// a null key single.
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

    var triggers: [Part] {
        [keyTrigger, existsTrigger, insertTrigger, deleteTrigger]
            + table.columns.indices.map { updateTrigger(at: $0) }
    }

    private var name: String { SQLText.name(table.tableName) }
    private var key: String { SQLText.name(table.keyColumn) }
}

// MARK: Triggers

extension TableDefinition {
    /// The key of an object never changes.
    private var keyTrigger: Part {
        let message = "\(table.name).\(table.key.name) is the primary key and cannot change"
        return trigger(
            "key",
            """
            BEFORE UPDATE OF \(key) ON \(name) WHEN OLD.\(key) IS NOT NEW.\(key) BEGIN
              SELECT RAISE(ABORT, \(SQLText.string(message)));
            END
            """
        )
    }

    /// An INSERT that meets an existing row may replace it: the old values are logged before they go.
    private var existsTrigger: Part {
        let equals = table.key.isNullable ? "IS" : "="
        let isExisting = "\(key) \(equals) NEW.\(key)"
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
    private func updateTrigger(at position: Int) -> Part {
        let column = table.columns[position]
        let value = SQLText.name(column.columnName)
        return trigger(
            "u\(column.id)",
            """
            AFTER UPDATE OF \(value) ON \(name) WHEN OLD.\(value) IS NOT NEW.\(value) BEGIN
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

/// What `prop` says in a log row when it is not the id of a property (local realm, 3.1).
enum CaptureMark {
    static let inserted: Int64 = 0
    static let deleted: Int64 = -1
    /// An INSERT met an existing row.
    static let existed: Int64 = -2
}
