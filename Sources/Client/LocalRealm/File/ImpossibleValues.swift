internal import SQLite
internal import Versions

/// Numbers in the agent's tables that the agent never writes: a program or a damaged disk did. They
/// are replaced by the nearest possible ones, and the owner is told where they were.
struct ImpossibleValues {
    private var examples: [String] = []
    private var count = 0

    private static let shownCount = 3

    mutating func add(
        _ table: String,
        _ key: String,
        _ row: Int64,
        _ column: String,
        _ value: Int64
    ) {
        count += 1
        guard examples.count < Self.shownCount else { return }
        examples.append("\(table).\(column) = \(value) where \(key) = \(row)")
    }

    /// Nil if there were none.
    var notice: SchemaNotice? {
        count == 0 ? nil : .impossibleValues(examples: examples, count: count)
    }
}

// MARK: The history

extension ImpossibleValues {
    /// Corrects the numbers in the rows of the history, before anything is computed from them.
    mutating func repairHistory(on connection: Connection) throws(SQLiteError) {
        let latest = OriginTimestamp.latestPlausible.rawValue
        try repair(
            "origin_timestamp",
            to: "max(0, min(\(latest), origin_timestamp))",
            where: "origin_timestamp NOT BETWEEN 0 AND \(latest)",
            on: connection
        )
        try repair(
            "size",
            to: "length(changeset)",
            where: "size <> length(changeset) AND compression = 0",
            on: connection
        )
    }

    private mutating func repair(
        _ column: String,
        to value: String,
        where condition: String,
        on connection: Connection
    ) throws(SQLiteError) {
        let rows = try connection.rows(
            "SELECT version, \(column) FROM _realm_history WHERE \(condition)"
        )
        guard !rows.isEmpty else { return }
        for row in rows {
            guard case .integer(let version) = row[0], case .integer(let found) = row[1] else {
                continue
            }
            add("_realm_history", "version", version, column, found)
        }
        try connection.execute("UPDATE _realm_history SET \(column) = \(value) WHERE \(condition)")
    }
}
