package import Changesets
package import Documents
package import SQLite
package import Schemas

/// The objects of a realm file, read as any program would read them.
package struct TableContents: Equatable {
    package var objects: [Text: [ObjectKey: Document]] = [:]

    package init(_ schema: RealmSchema, _ connection: Connection) throws {
        for owner in schema.classes {
            guard let key = owner.primaryKey else { continue }
            let columns = ([key.name] + owner.properties.map(\.name))
                .map { Connection.quoted("\($0)") }.joined(separator: ", ")
            let statement = try connection.prepare(
                "SELECT \(columns) FROM \(Connection.quoted("\(owner.name)"))"
            )
            while try statement.step() {
                let values = try owner.properties.enumerated().map { index, property in
                    try ColumnForm.decode(
                        Self.column(statement, index + 1),
                        of: property,
                        in: schema
                    )
                }
                let objectKey = try ColumnForm.decodeKey(Self.column(statement, 0), as: key)
                objects[owner.name, default: [:]][objectKey] = Document(values: values)
            }
        }
    }

    package init(_ realm: InMemoryRealm) {
        objects = realm.objects.filter { !$0.value.isEmpty }
    }

    private static func column(_ statement: Statement, _ index: Int) -> ColumnValue {
        switch statement.storageClass(at: index) {
        case .null: .null
        case .integer: .integer(statement.integer(at: index))
        case .real: .real(statement.real(at: index))
        case .text: .text(statement.bytes(at: index))
        case .blob: .blob(statement.bytes(at: index))
        }
    }
}
