import Changesets

extension RealmSchema {
    /// The property as in a schema file: `list<link<Person>>`, `string?` (interfaces, 3).
    package func definition(of property: PropertySchema) -> String {
        var element = element(of: property.type)
        switch property.type {
        case .mixed, .link: break
        default: element += property.isNullable ? "?" : ""
        }
        return switch property.collection {
        case .single: element
        case .list: "list<\(element)>"
        case .set: "set<\(element)>"
        case .dictionary: "dictionary<\(element)>"
        }
    }

    private func element(of type: PropertyType) -> String {
        switch type {
        case .mixed: "mixed"
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binary"
        case .timestamp: "timestamp"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal"
        case .objectID: "object_id"
        case .uuid: "uuid"
        case .link(let target):
            self[target]?.isEmbedded == true ? "embedded<\(target)>" : "link<\(target)>"
        }
    }
}

extension ClassSchema.Kind {
    /// "a class with primary key _id: object_id", "an embedded class", …
    package var definition: String {
        switch self {
        case .topLevel(let key): "a class with \(key.definition)"
        case .embedded: "an embedded class"
        case .asymmetric(let key): "an asymmetric class with \(key.definition)"
        }
    }
}

extension PrimaryKeySchema {
    fileprivate var definition: String {
        let type =
            switch type {
            case .int: "int"
            case .string: "string"
            case .objectID: "object_id"
            case .uuid: "uuid"
            case .globalKey: ""
            }
        return self.type == .globalKey
            ? "no primary key"
            : "primary key \(name): \(type)\(isNullable ? "?" : "")"
    }
}
