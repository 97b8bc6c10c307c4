internal import Changesets
internal import Documents
internal import SQLite

/// Reading and updating the links in JSON during a drain (local realm, 4.4).
extension Backlinks {
    /// Sets the links that a column of an object holds.
    func set(
        _ links: Set<ObjectReference>,
        of table: ClassTable,
        _ key: ColumnValue,
        _ column: Column
    ) throws {
        let delete = try connection.statement(
            "DELETE FROM _realm_backlink WHERE class = ?1 AND key = ?2 AND prop = ?3"
        )
        try delete.bind(table.id, at: 1)
        try delete.bind(Self.stored(key), at: 2)
        try delete.bind(column.id, at: 3)
        try delete.run()
        try update(of: key, column.id, in: table.id, from: [], to: links)
    }

    /// Whether the list has links that a column of an object holds.
    func hasAny(of table: ClassTable, _ key: ColumnValue, _ column: Column) throws -> Bool {
        let select = try connection.statement(
            "SELECT 1 FROM _realm_backlink WHERE class = ?1 AND key = ?2 AND prop = ?3 LIMIT 1"
        )
        defer { select.reset() }
        try select.bind(table.id, at: 1)
        try select.bind(Self.stored(key), at: 2)
        try select.bind(column.id, at: 3)
        return try select.step()
    }

    /// Removes the links of a deleted object.
    func removeAll(of table: ClassTable, _ key: ColumnValue) throws {
        let delete = try connection.statement(
            "DELETE FROM _realm_backlink WHERE class = ?1 AND key = ?2"
        )
        try delete.bind(table.id, at: 1)
        try delete.bind(Self.stored(key), at: 2)
        try delete.run()
    }

    /// Removes the links of a removed column.
    func removeAll(of table: ClassTable, column: Column) throws(SQLiteError) {
        try connection.run(
            "DELETE FROM _realm_backlink WHERE class = ?1 AND prop = ?2",
            [.integer(table.id), .integer(column.id)]
        )
    }

    /// Removes the links from and to a removed class.
    func removeAll(ofClass id: Int64) throws(SQLiteError) {
        try connection.run(
            "DELETE FROM _realm_backlink WHERE class = ?1 OR target_class = ?1",
            [.integer(id)]
        )
    }

    struct Source: Hashable {
        let classID: Int64
        /// As in its own table.
        let key: ColumnValue
        let property: Int64
    }

    /// The columns that hold links to an object.
    func sources(ofLinksTo table: ClassTable, _ key: ColumnValue) throws -> [Source] {
        let select = try connection.statement(
            """
            SELECT class, key, prop FROM _realm_backlink
            WHERE target_class = ?1 AND target_key = ?2 ORDER BY class, prop, key
            """
        )
        defer { select.reset() }
        try select.bind(table.id, at: 1)
        try select.bind(Self.stored(key), at: 2)
        var sources: [Source] = []
        while try select.step() {
            let key = select.columnValue(at: 1)
            sources.append(
                Source(
                    classID: select.integer(at: 0),
                    key: key == .blob([]) ? .null : key,
                    property: select.integer(at: 2)
                )
            )
        }
        return sources
    }

    /// The null key is the empty blob: no column of the table is ever NULL.
    private static func stored(_ key: ColumnValue) -> ColumnValue {
        key == .null ? .blob([]) : key
    }
}
