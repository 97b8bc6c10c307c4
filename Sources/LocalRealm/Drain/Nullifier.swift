internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Empties the links to objects that local programs have deleted (local realm, 4.4).
///
/// Deleting by SQL leaves them dangling. The server's erasures do so for good; a local one has to say
/// what became of the links, so the drain edits the rows and the diff does the rest.
struct Nullifier {
    let connection: Connection
    let catalogue: Catalogue

    func run(_ log: inout CaptureLog) throws {
        let referrers = catalogue.tables.map { catalogue.referrers(to: $0.name) }
        for index in log.objects.indices where !log.objects[index].isPresent {
            let object = log.objects[index]
            for referrer in referrers[object.table] {
                try empty(referrer, linkTo: object, &log)
            }
        }
    }

    private func empty(
        _ referrer: (table: Int, column: Int),
        linkTo object: CaptureLog.ObjectTrace,
        _ log: inout CaptureLog
    ) throws {
        let table = catalogue[referrer.table]
        let column = SQLText.name(table.columns[referrer.column].columnName)
        let name = SQLText.name(table.tableName)
        let link = object.key == .null ? ColumnValue.blob([]) : object.key

        let search = try connection.statement(
            """
            SELECT \(SQLText.name(table.keyColumn)) FROM \(name)
            WHERE \(column) = ?1 AND \(column) IS NOT NULL ORDER BY 1
            """
        )
        try search.bind(link, at: 1)
        var hasReferrers = false
        while try search.step() {
            hasReferrers = true
            log.addChange(
                table: referrer.table,
                key: search.columnValue(at: 0),
                column: referrer.column,
                old: link
            )
        }
        search.reset()
        guard hasReferrers else { return }

        let update = try connection.statement(
            "UPDATE \(name) SET \(column) = NULL WHERE \(column) = ?1 AND \(column) IS NOT NULL"
        )
        try update.bind(link, at: 1)
        try update.run()
    }
}
