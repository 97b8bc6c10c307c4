internal import Documents
internal import SQLite
internal import Schemas

/// Updates the list of links in JSON for the rows in the log (local realm, 4.4).
struct BacklinkRefresh {
    let connection: Connection
    let statements: StatementPool
    let catalogue: Catalogue
    let backlinks: Backlinks

    func run() throws {
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
            try refresh(wanted, of: catalogue[table], touched.columnValue(at: 1))
        }
    }

    private func refresh(_ positions: [Int], of table: ClassTable, _ key: ColumnValue) throws {
        let values = try statements.statements(of: table).withColumns(positions, of: key) { row in
            positions.indices.map { row.columnValue(at: $0) }
        }
        for (position, stored) in zip(positions, values ?? []) {
            let column = table.columns[position]
            let mayHoldLinks = Backlinks.mayHoldLinks(stored, column.property)
            let value = mayHoldLinks ? try? column.decode(stored, in: catalogue.schema) : nil
            try backlinks.set(value?.links ?? [], of: table, key, column)
        }
    }
}
