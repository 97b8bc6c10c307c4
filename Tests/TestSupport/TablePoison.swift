package import SQLite

/// Writes values that nothing of ours writes into the tables of a file, one column at a time.
package enum TablePoison {
    package struct Column: Hashable, Sendable, CustomStringConvertible {
        package let table: String
        package let name: String
        fileprivate let type: String

        package var description: String { "\(table).\(name)" }
    }

    /// The bounds of what arithmetic can take, and what is not a number at all; as SQL.
    package static let values = [
        "-9223372036854775808", "-9223372036854775807", "-1", "0", "1", "2147483648", "4294967296",
        "9007199254740992", "9223372036854775806", "9223372036854775807", "hex(zeroblob(100000))",
        "x'ff00'", "NULL",
    ]

    /// Every column of the tables with that prefix, as the file has them now: new ones are among them.
    package static func columns(
        of connection: Connection,
        prefix: String = ""
    ) throws -> [Column] {
        try connection.rows(
            """
            SELECT t.name, c.name, c.type FROM sqlite_schema t JOIN pragma_table_info(t.name) c
            WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
              AND substr(t.name, 1, \(prefix.utf8.count)) = '\(prefix)'
            ORDER BY t.name, c.cid
            """
        ).compactMap { row in
            guard case .text(let table) = row[0], case .text(let name) = row[1],
                case .text(let type) = row[2]
            else { return nil }
            return Column(table: table, name: name, type: type)
        }
    }

    /// Puts a row into the table if it has none.
    package static func fill(_ table: String, on connection: Connection) throws {
        guard try connection.integer("SELECT count(*) FROM \"\(table)\"") == 0 else { return }
        let columns = try columns(of: connection).filter { $0.table == table }
        let values = columns.map { column in
            switch column.type {
            case "TEXT": "'x'"
            case "BLOB": "x'00'"
            default: "1"
            }
        }
        let names = columns.map { "\"\($0.name)\"" }.joined(separator: ", ")
        try connection.execute(
            "INSERT INTO \"\(table)\"(\(names)) VALUES (\(values.joined(separator: ", ")))"
        )
    }

    /// Gives each row of the column another of the values, beginning with that one; what the schema
    /// refuses stays as it is.
    ///
    /// - Returns: how many rows have changed.
    package static func poison(
        _ column: Column,
        from first: Int,
        on connection: Connection
    ) throws -> Int {
        try connection.execute("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF")
        let update = "UPDATE OR IGNORE \"\(column.table)\" SET \"\(column.name)\" = "
        func change(_ statement: String) -> Int {
            guard (try? connection.execute(statement)) != nil else { return 0 }
            return connection.changes
        }
        let rows = try? connection.rows("SELECT rowid FROM \"\(column.table)\" ORDER BY rowid")
        guard let rows else { return change(update + values[first % values.count]) }
        var count = 0
        for (index, row) in rows.enumerated() {
            guard case .integer(let rowid) = row[0] else { continue }
            let value = values[(first + index) % values.count]
            count += change("\(update)\(value) WHERE rowid = \(rowid)")
        }
        return count
    }

    package static func rowCount(
        of table: String,
        on connection: Connection
    ) throws -> Int {
        Int(clamping: try connection.integer("SELECT count(*) FROM \"\(table)\"") ?? 0)
    }
}
