import BSON
import Changesets
import Schemas

/// Finds the type of one property of a JSON schema (moving an app, 2).
struct PropertyConversion {
    let name: String
    let node: BSONSchemaNode
    let isRequired: Bool
    /// `Class.property`, for reports.
    let place: String
    let namePath: [String]
    let relationshipPath: String
    /// The reason why `form` is nil.
    private(set) var problem = ""

    init(
        name: String,
        node: BSONSchemaNode,
        isRequired: Bool,
        place: String,
        namePath: [String],
        relationshipPath: String
    ) {
        self.name = name
        self.node = node
        self.isRequired = isRequired
        self.place = place
        self.namePath = namePath
        self.relationshipPath = relationshipPath
    }

    struct Form {
        let element: Element
        let collection: CollectionType
        let isNullable: Bool
    }

    enum Element {
        case scalar(PropertyType)
        case mixed
        case embedded(BSONSchemaNode)
    }

    /// Nil if objects here cannot have such a property; `problem` then says why.
    mutating func form() -> Form? {
        let types = node.types
        guard types.names.count <= 1 else {
            return failing("a union of \(types.names.joined(separator: " and "))")
        }
        guard let type = types.names.first else {
            // A node without a type that has properties is an object.
            if node.properties != nil { return embedded(node, in: .single) }
            return failing(types.acceptsNull ? "only null" : "no type")
        }
        let isNullable = !isRequired || types.acceptsNull
        switch type {
        case "array": return array()
        case "object": return object(node, nullable: isNullable)
        case "mixed": return Form(element: .mixed, collection: .single, isNullable: true)
        default:
            guard let scalar = Self.scalars[type] else { return failing("type \(type)") }
            return Form(element: .scalar(scalar), collection: .single, isNullable: isNullable)
        }
    }

    private mutating func failing(_ problem: String) -> Form? {
        self.problem = "\(problem) has no equivalent"
        return nil
    }

    private func embedded(_ node: BSONSchemaNode, in collection: CollectionType) -> Form {
        Form(element: .embedded(node), collection: collection, isNullable: true)
    }

    private mutating func array() -> Form? {
        let isSet = node.tree["uniqueItems"]?.bool == true
        let collection: CollectionType = isSet ? .set : .list
        guard let items = node.tree["items"] else { return failing("an array without items") }
        guard items.elements == nil else { return failing("items as a list") }
        let node = BSONSchemaNode(tree: items)
        let types = node.types
        guard types.names.count == 1 || node.properties != nil else {
            return failing("an array of a union or of no type")
        }
        switch types.names.first {
        case "array": return failing("an array of arrays")
        case "object", nil:
            guard node.properties != nil else {
                return failing("an array of objects without properties")
            }
            guard !isSet else { return failing("a set of embedded objects") }
            return embedded(node, in: .list)
        case "mixed": return Form(element: .mixed, collection: collection, isNullable: true)
        case let type?:
            guard let scalar = Self.scalars[type] else {
                return failing("an array of type \(type)")
            }
            return Form(element: .scalar(scalar), collection: collection, isNullable: false)
        }
    }

    private mutating func object(_ node: BSONSchemaNode, nullable: Bool) -> Form? {
        if node.properties != nil { return embedded(node, in: .single) }
        guard let values = node.additionalProperties, values != .bool(false) else {
            return failing("an object without properties")
        }
        guard case .object = values else {
            return Form(element: .mixed, collection: .dictionary, isNullable: true)
        }
        let element = BSONSchemaNode(tree: values)
        if element.properties != nil { return embedded(element, in: .dictionary) }
        let types = element.types
        guard types.names.count == 1 else { return failing("a dictionary of a union") }
        if types.names[0] == "mixed" {
            return Form(element: .mixed, collection: .dictionary, isNullable: true)
        }
        guard let scalar = Self.scalars[types.names[0]] else {
            return failing("a dictionary of type \(types.names[0])")
        }
        return Form(element: .scalar(scalar), collection: .dictionary, isNullable: false)
    }

    private static let scalars: [String: PropertyType] = [
        "bool": .bool, "boolean": .bool, "int": .int, "long": .int, "double": .double,
        "float": .float, "string": .string, "decimal": .decimal, "date": .timestamp,
        "objectId": .objectID, "uuid": .uuid, "binData": .binary,
    ]
}
