internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Clears the links to objects that local programs have deleted (local realm, 4.4).
///
/// A deletion by SQL leaves them dangling. The server's erasures do so on purpose. After a local
/// one, other replicas must learn that the links are cleared, so the drain edits the rows that hold
/// them and adds the old values to the log, as if the last transaction had done it. The diff does
/// the rest.
struct Nullifier {
    let connection: Connection
    let statements: StatementPool
    let catalogue: Catalogue
    let backlinks: Backlinks

    func run() throws {
        // Most logs have none, and then nothing below is compiled.
        guard try CaptureLog.hasDeletions(on: connection),
            let at = try connection.integer(
                "SELECT at FROM _realm_capture ORDER BY seq DESC LIMIT 1"
            )
        else { return }
        let referrers = catalogue.tables.map { catalogue.referrers(to: $0.name) }
        // Sorted, so read to its end before the first row is added to the log.
        let deleted = try connection.prepare(
            """
            SELECT class, key FROM _realm_capture WHERE prop = \(CaptureMark.deleted)
            GROUP BY class, key ORDER BY min(seq)
            """
        )
        while try deleted.step() {
            guard let position = catalogue.position(ofID: deleted.integer(at: 0)) else { continue }
            let (table, key) = (catalogue[position], deleted.columnValue(at: 1))
            // Recreated: the links to it are valid.
            if try statements.statements(of: table).exists(key) { continue }
            if !catalogue.linkHoldingColumns(of: table).isEmpty {
                try backlinks.removeAll(of: table, key)
            }
            for referrer in referrers[position] {
                try empty(referrer, linkTo: key, at: at)
            }
            for source in try backlinks.sources(ofLinksTo: table, key) {
                try removeLinks(in: source, to: table, key, at: at)
            }
        }
    }

    /// Links in columns of their own.
    private func empty(
        _ referrer: (table: Int, column: Int),
        linkTo key: ColumnValue,
        at: Int64
    ) throws {
        let table = catalogue[referrer.table]
        let column = SQLText.name(table.columns[referrer.column].columnName)
        let name = SQLText.name(table.tableName)
        let link = key == .null ? ColumnValue.blob([]) : key
        let log = try connection.statement(
            """
            INSERT INTO _realm_capture(at, class, key, prop, old)
            SELECT ?2, \(table.id), \(SQLText.name(table.keyColumn)), \
            \(table.columns[referrer.column].id), \(column) FROM \(name)
            WHERE \(column) = ?1 AND \(column) IS NOT NULL ORDER BY 3
            """
        )
        try log.bind(link, at: 1)
        try log.bind(at, at: 2)
        try log.run()
        guard connection.changes > 0 else { return }
        let update = try connection.statement(
            "UPDATE \(name) SET \(column) = NULL WHERE \(column) = ?1 AND \(column) IS NOT NULL"
        )
        try update.bind(link, at: 1)
        try update.run()
    }

    /// Links inside JSON.
    private func removeLinks(
        in source: Backlinks.Source,
        to target: ClassTable,
        _ targetKey: ColumnValue,
        at: Int64
    ) throws {
        guard let table = catalogue.position(ofID: source.classID).map({ catalogue[$0] }),
            let position = table.position(ofID: source.property),
            let key = try? ColumnForm.decodeKey(targetKey, as: target.key)
        else { return }
        let column = table.columns[position]
        let deleted = ObjectReference(className: target.name, key: key)
        let tableStatements = statements.statements(of: table)
        let stored = try tableStatements.withColumns([position], of: source.key) {
            $0.columnValue(at: 0)
        }
        // A value that cannot be read will be rejected.
        guard let stored, let value = try? column.decode(stored, in: catalogue.schema) else {
            return
        }
        let rest = value.removingLinks { $0 == deleted }
        let log = try connection.statement(
            "INSERT INTO _realm_capture(at, class, key, prop, old) VALUES (?1, ?2, ?3, ?4, ?5)"
        )
        try log.bind(at, at: 1)
        try log.bind(table.id, at: 2)
        try log.bind(source.key, at: 3)
        try log.bind(column.id, at: 4)
        try log.bind(stored, at: 5)
        try log.run()
        _ = try tableStatements.update(
            source.key,
            at: [position],
            to: [column.encode(rest, in: catalogue.schema)]
        )
        try backlinks.set(rest.links, of: table, source.key, column)
    }
}
