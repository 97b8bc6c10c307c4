internal import Changesets
internal import Documents
internal import Schemas

/// The changes of an object as one SQL statement, for use by hand.
struct UnsyncedStatement {
    let table: ClassTable
    let owner: ClassSchema
    let schema: RealmSchema

    /// For an object that does not exist the statement creates all of it; counters add to the
    /// current value.
    func statement(
        making changes: [Text: UnsyncedPropertyChange],
        in document: Document?,
        key: String
    ) -> String {
        guard let document else {
            return "DELETE FROM \(tableName) WHERE \(keyName) IS \(key);"
        }
        let columns = table.columns.compactMap { column in
            owner.position(of: column.property.name).map { position in
                (
                    change: changes[column.property.name], name: SQLText.name(column.columnName),
                    value: SQLText.literal(column.encode(document.values[position], in: schema))
                )
            }
        }
        func assignments(_ value: (String, String) -> String) -> String {
            columns.compactMap { column in
                switch column.change {
                case nil: nil
                case .add(let amount):
                    "\(column.name) = \(column.name) \(amount < 0 ? "-" : "+") \(amount.magnitude)"
                default: "\(column.name) = \(value(column.name, column.value))"
                }
            }.joined(separator: ", ")
        }
        let names = ([keyName] + columns.map(\.name)).joined(separator: ", ")
        let values = ([key] + columns.map(\.value)).joined(separator: ", ")
        let insert = "INSERT INTO \(tableName)(\(names)) VALUES (\(values))"
        // An object that is sent and deleted cannot conflict with another.
        guard !owner.isAsymmetric else { return insert + ";" }
        // Only the server can create an object without primary key.
        guard owner.primaryKey?.type != .globalKey else {
            let all = assignments { $1 }
            return all.isEmpty
                ? "" : "UPDATE \(tableName) SET \(all) WHERE \(keyName) IS \(key);"
        }
        let all = assignments { name, _ in "excluded.\(name)" }
        // The unique index on a null key is not on the column itself.
        let target = key == "NULL" ? "" : "(\(keyName))"
        return "\(insert) ON CONFLICT\(target) DO \(all.isEmpty ? "NOTHING" : "UPDATE SET \(all)");"
    }

    private var tableName: String { SQLText.name(table.tableName) }
    private var keyName: String { SQLText.name(table.keyColumn) }
}
