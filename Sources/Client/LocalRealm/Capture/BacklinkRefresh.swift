internal import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Updates the list of links in JSON for the rows in the log (local realm, 4.4).
struct BacklinkRefresh {
    let connection: Connection
    let statements: StatementPool
    let catalogue: Catalogue
    let backlinks: Backlinks

    /// The links that a column holds now.
    struct Change {
        let table: ClassTable
        let key: ColumnValue
        let column: Column
        let links: Set<ObjectReference>

        func store(in backlinks: Backlinks) throws {
            try backlinks.set(links, of: table, key, column)
        }
    }

    func run() throws {
        try forEachChange { try $0.store(in: backlinks) }
    }

    /// The changes that differ from the list, for ``Change/store(in:)`` later; nil if there are more than the limit.
    func changes(atMost limit: Int) throws -> [Change]? {
        var changes: [Change] = []
        try forEachChange { change in
            guard changes.count <= limit,
                try !change.links.isEmpty
                    || backlinks.hasAny(of: change.table, change.key, change.column)
            else { return }
            changes.append(change)
        }
        return changes.count <= limit ? changes : nil
    }

    private func forEachChange(_ body: (Change) throws -> Void) throws {
        // By class: the columns whose JSON may hold links.
        var columns: [Int64: [Int]] = [:]
        for table in catalogue.tables where !table.isAsymmetric {
            let positions = catalogue.linkHoldingColumns(of: table)
            if !positions.isEmpty { columns[table.id] = positions }
        }
        guard !columns.isEmpty else { return }
        let touched = try connection.prepare(
            """
            SELECT class, key, prop FROM _realm_capture WHERE prop >= \(CaptureMark.inserted)
            GROUP BY class, key, prop
            """
        )
        while try touched.step() {
            guard let positions = columns[touched.integer(at: 0)],
                let table = catalogue.position(ofID: touched.integer(at: 0))
            else { continue }
            let property = touched.integer(at: 2)
            let wanted =
                property == CaptureMark.inserted
                ? positions
                : positions.filter { catalogue[table].columns[$0].id == property }
            if wanted.isEmpty { continue }
            try forEachChange(wanted, of: catalogue[table], touched.columnValue(at: 1), body)
        }
    }

    private func forEachChange(
        _ positions: [Int],
        of table: ClassTable,
        _ key: ColumnValue,
        _ body: (Change) throws -> Void
    ) throws {
        let values = try statements.statements(of: table).withColumns(positions, of: key) { row in
            positions.indices.map { row.columnValue(at: $0) }
        }
        for (position, stored) in zip(positions, values ?? []) {
            let column = table.columns[position]
            let mayHoldLinks = Backlinks.mayHoldLinks(stored, column.property)
            let value = mayHoldLinks ? try? column.decode(stored, in: catalogue.schema) : nil
            try body(Change(table: table, key: key, column: column, links: value?.links ?? []))
        }
    }
}
