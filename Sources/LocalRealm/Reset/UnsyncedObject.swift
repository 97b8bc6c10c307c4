package import Changesets
internal import Documents
internal import Schemas

/// An object with changes that the server has not acknowledged, and what it is now.
package struct UnsyncedObject: Hashable, Sendable {
    package let className: Text
    /// The primary key as an SQL literal.
    package let key: String
    /// Names of changed properties; empty if the object as a whole was created or deleted.
    package let properties: [Text]
    /// It is not there any more.
    package let isDeleted: Bool
    /// The object as one JSON document; nil if it is deleted.
    package let document: [UInt8]?
    /// A statement that makes the changes again, on any copy of the realm.
    package let sql: String
}

extension UnsyncedObject {
    /// - Parameters:
    ///   - properties: nil for all that its class has.
    ///   - document: the object as it is; nil if it is not there any more.
    init(
        _ object: ObjectReference,
        _ properties: Set<Text>?,
        _ document: Document?,
        _ catalogue: Catalogue
    ) {
        let schema = catalogue.schema
        className = object.className
        key = SQLText.literal(ColumnForm.encodeKey(object.key))
        let properties = properties ?? Set(schema[object.className]?.properties.map(\.name) ?? [])
        self.properties = properties.sorted()
        isDeleted = document == nil
        guard let owner = schema[object.className],
            let position = catalogue.position(of: object.className)
        else {
            (self.document, sql) = (nil, "")
            return
        }
        self.document = document.map {
            JSONForm(schema: schema).encode($0, key: object.key, of: owner)
        }
        let table = catalogue[position]
        guard let document else {
            sql = "DELETE FROM \(table.reference) WHERE \(table.keyReference) IS \(key);"
            return
        }
        let values = owner.properties.enumerated().compactMap { place, property -> Assignment? in
            guard properties.contains(property.name),
                let column = table.position(of: property.name)
            else { return nil }
            return Assignment(
                column: SQLText.name(table.columns[column].columnName),
                value: SQLText.literal(
                    ColumnForm.encode(document.values[place], of: property, in: schema)
                )
            )
        }
        sql = Self.statement(writing: values, to: key, of: owner, table)
    }

    private typealias Assignment = (column: String, value: String)

    private static func statement(
        writing values: [Assignment],
        to key: String,
        of owner: ClassSchema,
        _ table: ClassTable
    ) -> String {
        let columns = ([table.keyReference] + values.map(\.column)).joined(separator: ", ")
        let literals = ([key] + values.map(\.value)).joined(separator: ", ")
        let insert = "INSERT INTO \(table.reference)(\(columns)) VALUES (\(literals))"
        // Nothing can be in the way of an object that is sent and gone.
        guard !owner.isAsymmetric else { return insert + ";" }
        // An object without primary key can only come from the server.
        guard owner.primaryKey?.type != .globalKey else {
            let assignments = values.map { "\($0.column) = \($0.value)" }.joined(separator: ", ")
            return "UPDATE \(table.reference) SET \(assignments) "
                + "WHERE \(table.keyReference) IS \(key);"
        }
        let assignments = values.map { "\($0.column) = excluded.\($0.column)" }
        let conflict =
            assignments.isEmpty ? "NOTHING" : "UPDATE SET \(assignments.joined(separator: ", "))"
        // What is unique about a null key is not the column.
        let target = key == "NULL" ? "" : "(\(table.keyReference))"
        return "\(insert) ON CONFLICT\(target) DO \(conflict);"
    }
}

extension ClassTable {
    fileprivate var reference: String { SQLText.name(tableName) }
    fileprivate var keyReference: String { SQLText.name(keyColumn) }
}
