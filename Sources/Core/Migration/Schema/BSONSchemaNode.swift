import BSON
import Changesets

/// One node of a collection's JSON schema (moving an app, 2).
struct BSONSchemaNode {
    let tree: JSONTree

    /// The names of its types without `null`, and whether `null` is one of them. Empty if it names none.
    var types: (names: [String], acceptsNull: Bool) {
        let names: [String]
        switch tree["bsonType"] ?? tree["type"] {
        case .string(let text)?: names = [text.description]
        case .array(let elements)?: names = elements.compactMap(\.text)
        default: names = []
        }
        return (names.filter { $0 != "null" }, names.contains("null"))
    }

    /// The properties of an embedded object; nil without any.
    var properties: [(name: String, node: BSONSchemaNode)]? {
        guard let members = tree["properties"]?.members, !members.isEmpty else { return nil }
        return members.map { ($0.name.description, BSONSchemaNode(tree: $0.value)) }
    }

    var required: Set<String> {
        Set((tree["required"]?.elements ?? []).compactMap(\.text))
    }

    var title: String? { tree["title"]?.text.flatMap { $0.isEmpty ? nil : $0 } }

    var additionalProperties: JSONTree? { tree["additionalProperties"] }

    /// Rules about values that a schema here does not have.
    var constraints: [String] {
        let words = [
            "enum", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf",
            "pattern", "maxLength", "minLength", "maxItems", "minItems", "minProperties",
            "maxProperties", "const", "format", "dependencies", "allOf", "anyOf", "oneOf", "not",
        ]
        return words.filter { tree[$0] != nil }
    }

    /// Two embedded classes of one title are the same if these are: properties and `required`.
    var shape: Shape {
        Shape(
            properties: (properties ?? []).map { .init(name: $0.name, tree: $0.node.tree) }
                .sorted { $0.name < $1.name },
            required: required
        )
    }

    struct Shape: Hashable {
        struct Property: Hashable {
            let name: String
            let tree: JSONTree
        }

        let properties: [Property]
        let required: Set<String>
    }
}
