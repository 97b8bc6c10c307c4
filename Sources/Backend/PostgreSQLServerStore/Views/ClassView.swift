import Changesets
import PostgreSQL
package import Schemas

/// The view of one class of an app, over all its server files (server on PostgreSQL, 5).
package struct ClassView: Hashable, Sendable {
    /// The class's name.
    package let name: String
    /// The primary key first, then the properties by name, then what every view has.
    package let columns: [Column]

    package struct Column: Hashable, Sendable {
        package let name: String
        fileprivate let value: Value
    }

    /// The value of a column, by the functions of `ReaderFunctions`.
    fileprivate enum Value: String, Hashable, Sendable {
        case text = "as_text"
        case int = "as_int"
        case bool = "as_bool"
        case double = "as_double"
        case decimal = "as_decimal"
        case timestamp = "as_timestamp"
        case binary = "as_binary"
        /// Collections, embedded objects, Mixed, and properties of two types in two files.
        case json
    }

    /// Columns that no property's may be named like.
    static let ownColumns = ["realm$partition", "realm$file", "realm$document"]

    /// PostgreSQL cuts longer names off.
    private static let nameLimitInBytes = 63

    /// The views of an app whose files have these schemas, by name. Classes and properties whose names
    /// PostgreSQL cannot have are left out.
    package static func views(of schemas: [RealmSchema]) -> [ClassView] {
        var properties: [String: [String: Value]] = [:]
        var keys: [String: String] = [:]
        for schema in schemas {
            for owner in schema.classes {
                guard let key = owner.primaryKey, !owner.isAsymmetric,
                    let name = storableName(owner.name)
                else { continue }
                var values: [(String?, Value)] = owner.properties.map { property in
                    (storableName(property.name), value(of: property, in: schema))
                }
                if key.type != .globalKey {
                    keys[name] = storableName(key.name)
                    values.append((storableName(key.name), key.type == .int ? .int : .text))
                }
                for case (let column?, let value) in values where !ownColumns.contains(column) {
                    let known = properties[name, default: [:]][column] ?? value
                    properties[name, default: [:]][column] = known == value ? value : .json
                }
                _ = properties[name, default: [:]]
            }
        }
        return properties.sorted { $0.key < $1.key }.map { name, columns in
            ClassView(
                name: name,
                columns: columns.sorted { left, right in
                    let isKey = (left.key == keys[name], right.key == keys[name])
                    return isKey.0 != isKey.1 ? isKey.0 : left.key < right.key
                }.map { Column(name: $0.key, value: $0.value) }
            )
        }
    }

    private static func storableName(_ text: Text) -> String? {
        guard let name = text.string, !text.bytes.contains(0), !text.bytes.isEmpty,
            text.bytes.count <= nameLimitInBytes
        else { return nil }
        return name
    }

    private static func value(of property: PropertySchema, in schema: RealmSchema) -> Value {
        guard property.collection == .single else { return .json }
        return switch property.type {
        case .int: .int
        case .bool: .bool
        case .string, .objectID, .uuid: .text
        case .binary: .binary
        case .timestamp: .timestamp
        case .float, .double: .double
        case .decimal: .decimal
        case .mixed: .json
        case .link(let target):
            // A link is the key of its target; an embedded object is a document.
            switch schema[target]?.primaryKey?.type {
            case .int: .int
            case .string, .objectID, .uuid, .globalKey: .text
            case nil: .json
            }
        }
    }

    // MARK: SQL

    /// The statement that makes the view.
    ///
    /// - Parameters:
    ///   - store: the schema of the store.
    ///   - schema: the schema of the app's views.
    package func sql(of app: String, in schema: String, store: String) -> String {
        let functions = Target.quoted(store)
        let values = columns.map { column in
            let member = Self.literal(column.name)
            let value =
                column.value == .json
                ? "o.document -> \(member)"
                : "\(functions).\(column.value.rawValue)(o.document, \(member))"
            return "\(value) AS \(Target.quoted(column.name))"
        }
        let own = [
            "\(functions).as_partition(f.partition) AS \"realm$partition\"",
            "f.file_id AS \"realm$file\"", "o.document AS \"realm$document\"",
        ]
        return """
            CREATE VIEW \(Target.quoted(schema)).\(Target.quoted(name)) AS
            SELECT \((values + own).joined(separator: ",\n    "))
            FROM \(functions).object o JOIN \(functions).server_file f USING (file_id)
            WHERE f.app_id = \(Self.literal(app)) AND o.class = \(Self.literal(name));
            """
    }

    /// A text as SQL, under any `standard_conforming_strings`.
    static func literal(_ text: String) -> String {
        let quoted = text.replacing("'", with: "''")
        guard text.contains("\\") else { return "'\(quoted)'" }
        return "E'\(quoted.replacing("\\", with: "\\\\"))'"
    }
}
