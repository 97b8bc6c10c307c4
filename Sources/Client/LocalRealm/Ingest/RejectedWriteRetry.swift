package import Changesets
internal import Documents
internal import SQLite
internal import Schemas

/// Writes an object again as it was when the server rejected its change: like any program, under the
/// checks and triggers of the file.
package struct RejectedWriteRetry: Sendable {
    package enum Outcome: Hashable, Sendable {
        /// The object is again as it was; the agent uploads it.
        case written(className: Text)
        /// The rejected write had deleted the object, and it is deleted again.
        case deleted(className: Text)
        /// There is no such rejected write, or it was one of the drain.
        case unknown
        /// A check or a trigger of the file refuses the object, with this text.
        case refused(String)
    }

    private let path: String
    /// ``RejectedWrite/id``.
    private let id: Int64

    package init(_ id: Int64, in path: String) {
        self.path = path
        self.id = id
    }

    package func run() throws(LocalRealmError) -> Outcome {
        let catalogue = try RealmFile.reading(path) { connection in
            try connection.transaction(.deferred) {
                try CatalogueStore(connection: connection).load(options: [:])
            }
        }
        return try RealmFile.mappingErrors(path) {
            let connection = try Connection(
                path: path,
                .init(mode: .readWrite, busyTimeout: .seconds(30))
            )
            defer { connection.close() }
            do {
                return try connection.transaction(.immediate) {
                    try run(connection, catalogue)
                }
            } catch let error as SQLiteError where error.condition == .constraint {
                return .refused(error.message)
            }
        }
    }

    private func run(_ connection: Connection, _ catalogue: Catalogue) throws -> Outcome {
        let statement = try connection.statement(
            "SELECT class, key, row_before FROM _realm_reject WHERE id = ?1"
        )
        defer { statement.reset() }
        try statement.bind(id, at: 1)
        guard try statement.step() else { return .unknown }
        let className = Text(statement.text(at: 0))
        guard let position = catalogue.position(of: className),
            let owner = catalogue.schema[className]
        else { return .refused("the realm has no class \(className)") }
        let table = catalogue[position]
        let key = statement.columnValue(at: 1)
        let rows = StatementPool(connection).statements(of: table)
        guard statement.storageClass(at: 2) != .null else {
            _ = try rows.delete(key)
            return .deleted(className: className)
        }
        let document: Document
        do throws(FormError) {
            document = try JSONForm(schema: catalogue.schema).decodeDocument(
                Array(statement.text(at: 2).utf8),
                of: owner
            )
        } catch {
            return .refused("the kept row does not fit the class any more: \(error)")
        }
        var columns = [ColumnValue](repeating: .null, count: table.columns.count)
        for (property, value) in zip(owner.properties, document.values) {
            guard let column = table.position(of: property.name) else { continue }
            columns[column] = table.columns[column].encode(value, in: catalogue.schema)
        }
        if try !rows.update(key, at: Array(columns.indices), to: columns) {
            _ = try rows.insert(key, columns)
        }
        return .written(className: className)
    }
}
