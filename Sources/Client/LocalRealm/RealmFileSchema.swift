internal import Changesets
internal import Documents
internal import SQLite
package import Schemas

/// The classes of a realm file, read without opening it as an agent does: beside a running agent,
/// and without writing.
package struct RealmFileSchema: Hashable, Sendable {
    package let schema: RealmSchema
    /// Of the properties that are counters, or have another default than their type's.
    package let options: [PropertyName: PropertyOptions]
    /// The CREATE TABLE statements of the classes, in the order of the classes.
    package let tables: [String]

    package static func read(path: String) throws(LocalRealmError) -> RealmFileSchema {
        try RealmFile.reading(path) { connection in
            // One snapshot, independent of the agent's writes.
            try connection.transaction(.deferred) { try RealmFileSchema(connection) }
        }
    }

    private init(_ connection: Connection) throws {
        let catalogue = try CatalogueStore(connection: connection).load(options: [:])
        let counters = Set(
            try connection.rows("SELECT id FROM _realm_property WHERE counter").map { $0[0] }
        )
        self.schema = catalogue.schema
        var options: [PropertyName: PropertyOptions] = [:]
        var tables: [String] = []
        for table in catalogue.tables {
            let defaults = try Self.defaults(of: table, catalogue.schema[table.name], connection)
            for column in table.columns {
                let columnOptions = PropertyOptions(
                    isCounter: counters.contains(.integer(column.id)),
                    defaultValue: defaults[column.name]
                )
                guard columnOptions != PropertyOptions() else { continue }
                let name = PropertyName(className: table.name, property: column.name)
                options[name] = columnOptions
            }
            let sql = try connection.row(
                "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1",
                [.text(table.tableName)]
            )
            if case .text(let text) = sql?[0] { tables.append(text) }
        }
        self.options = options
        self.tables = tables
    }

    /// The defaults of the table's columns, where they differ from the initial values of the class.
    private static func defaults(
        of table: ClassTable,
        _ owner: ClassSchema?,
        _ connection: Connection
    ) throws -> [Text: Scalar] {
        let rows = try connection.rows(
            "SELECT name, dflt_value FROM pragma_table_info(?1) WHERE dflt_value IS NOT NULL",
            [.text(table.tableName)]
        )
        var result: [Text: Scalar] = [:]
        for case (.text(let name), .text(let expression)) in rows.map({ ($0[0], $0[1]) }) {
            guard let column = table.columns.first(where: { $0.columnName == name }),
                case .scalar(let type) = column.type
            else { continue }
            let statement = try connection.prepare("SELECT \(expression)")
            guard try statement.step() else { continue }
            let value = try ColumnForm.decode(statement.columnValue(at: 0), as: type)
            if owner?.property(named: column.name)?.defaultValue != .scalar(value) {
                result[column.name] = value
            }
        }
        return result
    }
}
