import Changesets
import Documents
import SQLite
import Schemas
import Testing

extension InMemoryRealm {
    /// The content of a realm file, read through its tables as by any program; classes whose
    /// objects leave no rows are empty.
    init(_ connection: Connection, _ schema: RealmSchema) throws {
        self.init(schema: schema)
        for owner in schema.classes {
            guard let key = owner.primaryKey else { continue }
            let names = try RealmContents.columnNames(of: owner, connection)
            let columns = ([names.key] + names.properties)
                .map { Connection.quoted($0) }.joined(separator: ", ")
            let statement = try connection.prepare(
                "SELECT \(columns) FROM \(Connection.quoted(names.table))"
            )
            while try statement.step() {
                let values = try owner.properties.enumerated().map { index, property in
                    let column = RealmContents.column(statement, index + 1)
                    return try ColumnForm.decode(column, of: property, in: schema)
                }
                let object = ObjectReference(
                    className: owner.name,
                    key: try ColumnForm.decodeKey(RealmContents.column(statement, 0), as: key)
                )
                setDocument(Document(values: values), for: object)
            }
        }
    }
}

/// A row of `_realm_backlink`, as text.
enum RealmContents {
    fileprivate static func columnNames(
        of owner: ClassSchema,
        _ connection: Connection
    ) throws -> (table: String, key: String, properties: [String]) {
        let table = try #require(
            try connection.row(
                "SELECT table_name FROM _realm_class WHERE name = ?1",
                [.text("\(owner.name)")]
            )
        )
        let rows = try connection.rows(
            """
            SELECT p.name, p.column_name FROM _realm_property p JOIN _realm_class c ON c.id = p.class
            WHERE c.name = ?1
            """,
            [.text("\(owner.name)")]
        )
        var names: [String: String] = [:]
        for case (.text(let name), .text(let column)) in rows.map({ ($0[0], $0[1]) }) {
            names[name] = column
        }
        guard case .text(let tableName) = table[0], let key = owner.primaryKey else {
            throw Unreadable()
        }
        return (
            tableName, key.type == .globalKey ? "_realm_key" : "\(key.name)",
            owner.properties.map { names["\($0.name)"] ?? "" }
        )
    }

    private struct Unreadable: Error {}

    fileprivate static func column(_ statement: Statement, _ index: Int) -> ColumnValue {
        switch statement.storageClass(at: index) {
        case .null: .null
        case .integer: .integer(statement.integer(at: index))
        case .real: .real(statement.real(at: index))
        case .text: .text(statement.bytes(at: index))
        case .blob: .blob(statement.bytes(at: index))
        }
    }

    /// The expected rows of `_realm_backlink`: each target of each property once, except for links
    /// in columns of their own.
    static func backlinks(_ realm: InMemoryRealm) -> Set<String> {
        var lines: Set<String> = []
        for (className, objects) in realm.objects {
            guard let owner = realm.schema[className] else { continue }
            for (key, document) in objects {
                for (property, value) in zip(owner.properties, document.values) {
                    if case .link = realm.schema.elementType(of: property),
                        property.collection == .single
                    {
                        continue
                    }
                    for link in links(value) {
                        lines.insert(
                            line(
                                "\(link.className)",
                                ColumnForm.encodeLinkKey(link.key),
                                "\(className)",
                                ColumnForm.encodeLinkKey(key),
                                "\(property.name)"
                            )
                        )
                    }
                }
            }
        }
        return lines
    }

    static func backlinks(_ connection: Connection) throws -> Set<String> {
        let statement = try connection.prepare(
            """
            SELECT t.name, b.target_key, c.name, b.key, p.name FROM _realm_backlink b
            JOIN _realm_class t ON t.id = b.target_class JOIN _realm_class c ON c.id = b.class
            JOIN _realm_property p ON p.id = b.prop
            """
        )
        var lines: Set<String> = []
        while try statement.step() {
            lines.insert(
                line(
                    statement.text(at: 0),
                    column(statement, 1),
                    statement.text(at: 2),
                    column(statement, 3),
                    statement.text(at: 4)
                )
            )
        }
        return lines
    }

    private static func line(
        _ target: String,
        _ targetKey: ColumnValue,
        _ source: String,
        _ sourceKey: ColumnValue,
        _ property: String
    ) -> String {
        "\(source)[\(sourceKey)].\(property) -> \(target)[\(targetKey)]"
    }

    private static func links(_ value: Documents.Value) -> [ObjectReference] {
        switch value {
        case .scalar(.link(let link)): [link]
        case .scalar: []
        case .list(let elements): elements.flatMap(links)
        case .set(let set):
            set.elements.compactMap { if case .link(let link) = $0 { link } else { nil } }
        case .dictionary(let members): members.values.flatMap(links)
        case .object(let document): document.values.flatMap(links)
        }
    }
}
