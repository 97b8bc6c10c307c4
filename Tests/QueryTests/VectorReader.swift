import Changesets
import Documents
import Schemas
import TestSupport
import Testing

/// Reads schemas, objects and values in the form of the golden vectors.
enum VectorReader {
    static func schema(_ node: JSONNode) throws -> RealmSchema {
        let classes = try #require(node.members)
        return RealmSchema(
            try classes.sorted { $0.key < $1.key }.map { name, form in
                ClassSchema(
                    name: name,
                    kind: try kind(form),
                    properties: try #require(form["columns"]?.members).sorted { $0.key < $1.key }
                        .map { try property($0.key, $0.value) }
                )
            }
        )
    }

    private static func kind(_ form: JSONNode) throws -> ClassSchema.Kind {
        guard let name = form["pk_field"]?.bytesText else { return .embedded }
        let type: PrimaryKeyType =
            switch form["pk_type"]?.string {
            case "int": .int
            case "string": .string
            case "objectId": .objectID
            default: .uuid
            }
        return .topLevel(PrimaryKeySchema(name: name, type: type, isNullable: false))
    }

    private static func property(_ name: Text, _ form: JSONNode) throws -> PropertySchema {
        let type: PropertyType =
            switch form["type"]?.string {
            case "int": .int
            case "bool": .bool
            case "string": .string
            case "binary": .binary
            case "timestamp": .timestamp
            case "float": .float
            case "double": .double
            case "decimal": .decimal
            case "objectId": .objectID
            case "uuid": .uuid
            case "link": .link(target: try #require(form["link_target"]?.bytesText))
            default: .mixed
            }
        let collection: CollectionType =
            switch form["collection"]?.string {
            case "list": .list
            case "set": .set
            case "dictionary": .dictionary
            default: .single
            }
        return PropertySchema(
            name: name,
            type: type,
            isNullable: try #require(form["nullable"]?.bool as Bool?),
            collection: collection
        )
    }

    // MARK: Objects

    static func row(_ line: JSONNode, _ schema: RealmSchema) throws -> VectorObject.Row {
        let className = try #require(line["class"]?.bytesText)
        let classSchema = try #require(schema[className])
        return VectorObject.Row(
            reference: ObjectReference(
                className: className,
                key: try key(try #require(line["key"]))
            ),
            schema: classSchema,
            document: try document(try #require(line["fields"]), classSchema, schema)
        )
    }

    private static func document(
        _ fields: JSONNode,
        _ classSchema: ClassSchema,
        _ schema: RealmSchema
    ) throws -> Document {
        Document(
            values: try classSchema.properties.map { property in
                guard let node = fields[property.name] else {
                    return property.collection == .single ? .null : property.defaultValue
                }
                var target: ClassSchema?
                if case .link(let name) = property.type { target = schema[name] }
                return try value(node, target, schema)
            }
        )
    }

    private static func value(
        _ node: JSONNode,
        _ target: ClassSchema?,
        _ schema: RealmSchema
    ) throws -> Value {
        if let elements = node["list"]?.elements {
            return .list(try elements.map { try value($0, target, schema) })
        }
        if let elements = node["set"]?.elements {
            // The recording has elements that `ValueSet` treats as one, such as both zeros.
            let scalars = try elements.map { try scalar($0) }
            let set = ValueSet(scalars)
            return set.count == scalars.count ? .set(set) : .list(scalars.map { .scalar($0) })
        }
        if let members = node["dictionary"]?.members {
            return .dictionary(try members.mapValues { try value($0, target, schema) })
        }
        if let fields = node["object"] {
            return .object(try document(fields, try #require(target), schema))
        }
        return .scalar(try scalar(node))
    }

    static func key(_ node: JSONNode) throws -> ObjectKey {
        switch try scalar(node) {
        case .int(let value): .int(value)
        case .string(let value): .string(value)
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        default: .null
        }
    }

    static func scalar(_ node: JSONNode) throws -> Scalar {
        guard let (tag, content) = node.members?.first else { return .null }
        switch tag {
        case "int": return .int(try #require(content.string.flatMap { Int64($0) }))
        case "bool": return .bool(try #require(content.bool as Bool?))
        case "string": return .string(try #require(content.bytesText))
        case "binary":
            return .binary(try #require(content.string.flatMap { Hexadecimal.bytes(of: $0) }))
        case "float":
            let bits = try #require(content.string.flatMap { UInt32($0, radix: 16) })
            return .float(FloatBits(bitPattern: bits))
        case "double":
            let bits = try #require(content.string.flatMap { UInt64($0, radix: 16) })
            return .double(DoubleBits(bitPattern: bits))
        case "timestamp":
            let seconds = try #require(content["s"]?.string.flatMap { Int64($0) })
            let nanoseconds = try #require(content["ns"]?.integer)
            return .timestamp(
                try #require(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
            )
        case "decimal":
            let bits = try #require(content["bid"]?.string.flatMap { UInt128($0, radix: 16) })
            return .decimal(
                Decimal128(
                    high: UInt64(truncatingIfNeeded: bits >> 64),
                    low: UInt64(truncatingIfNeeded: bits)
                )
            )
        case "objectId": return .objectID(try #require(content.string.flatMap { ObjectID($0) }))
        case "uuid": return .uuid(try #require(content.string.flatMap { UniqueID($0) }))
        case "link":
            return .link(
                ObjectReference(
                    className: try #require(content["table"]?.bytesText),
                    key: try key(try #require(content["key"]))
                )
            )
        default: throw UnknownForm(tag: tag.description)
        }
    }

    struct UnknownForm: Error {
        let tag: String
    }
}

extension JSONNode {
    /// A string, or bytes that are not UTF-8.
    var bytesText: Text? {
        if case .string(let text) = self { return text }
        return self["bytes"]?.string.flatMap { Hexadecimal.bytes(of: $0) }.map { Text(bytes: $0) }
    }
}
