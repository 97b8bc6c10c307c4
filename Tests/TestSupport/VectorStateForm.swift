import Changesets
package import Documents
import Schemas

/// Writes realms as the golden vectors describe them ("State form").
package enum VectorStateForm {
    /// Comparable to a line's `state` once both are `inVectorOrder`.
    package static func state(of realm: InMemoryRealm) -> JSONNode {
        var tables: [Text: JSONNode] = [:]
        for schema in realm.schema.classes where !schema.isEmbedded {
            let objects = (realm.objects[schema.name] ?? [:]).map { key, document in
                JSONNode.object([
                    "key": VectorForm.key(key), "fields": fields(document, schema, realm),
                ])
            }
            tables[schema.name] = .array(objects)
        }
        return .object(tables).inVectorOrder
    }

    /// Equal to a line's `schema`.
    package static func schema(of realm: InMemoryRealm) -> JSONNode {
        var tables: [Text: JSONNode] = [:]
        for schema in realm.schema.classes {
            tables[schema.name] = .object(table(schema))
        }
        return .object(tables)
    }

    private static func table(_ schema: ClassSchema) -> [Text: JSONNode] {
        var members: [Text: JSONNode] = [:]
        switch schema.kind {
        case .topLevel: members["kind"] = "toplevel"
        case .embedded: members["kind"] = "embedded"
        case .asymmetric: members["kind"] = "asymmetric"
        }
        if let key = schema.primaryKey {
            members["pk_field"] = VectorForm.text(key.name)
            members["pk_type"] = VectorInstructionForm.name(of: key.type.typeCode)
            members["pk_nullable"] = .bool(key.isNullable)
        }
        var columns: [Text: JSONNode] = [:]
        for property in schema.properties {
            var column: [Text: JSONNode] = [
                "type": VectorInstructionForm.name(of: property.type.typeCode),
                "nullable": .bool(property.isNullable),
                "collection": VectorInstructionForm.name(of: property.collection),
            ]
            if case .link(let target) = property.type {
                column["link_target"] = VectorForm.text(target)
            }
            columns[property.name] = .object(column)
        }
        members["columns"] = .object(columns)
        return members
    }

    /// Properties that are null or an empty collection are left out.
    private static func fields(
        _ document: Document,
        _ schema: ClassSchema,
        _ realm: InMemoryRealm
    ) -> JSONNode {
        var fields: [Text: JSONNode] = [:]
        for (property, value) in zip(schema.properties, document.values) {
            if property.collection != .single, value == property.defaultValue { continue }
            if value == .null { continue }
            fields[property.name] = node(value, property, realm)
        }
        return .object(fields)
    }

    private static func node(
        _ value: Value,
        _ property: PropertySchema,
        _ realm: InMemoryRealm
    ) -> JSONNode {
        switch value {
        case .scalar(let scalar):
            return node(scalar, realm)
        case .list(let elements):
            return VectorForm.tagged("list", .array(elements.map { node($0, property, realm) }))
        case .set(let set):
            return VectorForm.tagged("set", .array(set.elements.map { node($0, realm) }))
        case .dictionary(let members):
            return VectorForm.tagged(
                "dictionary",
                .object(members.mapValues { hidingDangling(node($0, property, realm)) })
            )
        case .object(let document):
            guard case .link(let target) = property.type, let schema = realm.schema[target] else {
                preconditionFailure("only properties of an embedded class hold objects")
            }
            return VectorForm.tagged("object", fields(document, schema, realm))
        }
    }

    /// Under a dictionary key the vectors show a dangling link as what applications see.
    private static func hidingDangling(_ node: JSONNode) -> JSONNode {
        node["link"]?["dangling"] == nil ? node : .null
    }

    private static func node(_ scalar: Scalar, _ realm: InMemoryRealm) -> JSONNode {
        guard case .link(let link) = scalar, realm.isDangling(link) else {
            return VectorForm.scalar(scalar)
        }
        let members: [Text: JSONNode] = [
            "table": VectorForm.text(link.className), "key": VectorForm.key(link.key),
            "dangling": true,
        ]
        return VectorForm.tagged("link", .object(members))
    }
}

extension JSONNode {
    /// With the objects of tables and the elements of sets in the order of their text, so that order
    /// which has no meaning makes no difference.
    package var inVectorOrder: JSONNode {
        switch self {
        case .null, .bool, .number, .string:
            return self
        case .array(let elements):
            let elements = elements.map(\.inVectorOrder)
            let isTable = elements.first?.members?["fields"] != nil
            return .array(isTable ? elements.sorted(by: { $0["key"]?.text ?? "" }) : elements)
        case .object(let members):
            var members = members.mapValues(\.inVectorOrder)
            if let elements = members["set"]?.elements, members.count == 1 {
                members["set"] = .array(elements.sorted(by: \.text))
            }
            return .object(members)
        }
    }

    /// JSON with members in the order of their names.
    package var text: String {
        switch self {
        case .null: return "null"
        case .bool(let value): return "\(value)"
        case .number(let text): return text
        case .string(let text): return "\"\(text)\""
        case .array(let elements):
            return "[" + elements.map(\.text).joined(separator: ",") + "]"
        case .object(let members):
            let sorted = members.sorted { $0.key < $1.key }
            return "{" + sorted.map { "\"\($0.key)\":\($0.value.text)" }.joined(separator: ",")
                + "}"
        }
    }
}

extension [JSONNode] {
    fileprivate func sorted(by text: (JSONNode) -> String) -> [JSONNode] {
        map { (text($0), $0) }.sorted { $0.0 < $1.0 }.map(\.1)
    }
}

extension JSONNode: ExpressibleByBooleanLiteral {
    package init(booleanLiteral value: Bool) {
        self = .bool(value)
    }
}
