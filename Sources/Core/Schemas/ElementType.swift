package import Changesets

/// The type of one value of a property, with its link target looked up in the schema.
package enum ElementType: Hashable, Sendable {
    case scalar(ScalarType)
    case mixed
    case link(LinkTarget)
    /// An object that exists only in the property.
    case embedded(className: Text)
}

/// The types without structure (instruction semantics, 1.4).
package enum ScalarType: Hashable, Sendable, CaseIterable {
    case int
    case bool
    case string
    case binary
    case timestamp
    case float
    case double
    case decimal
    case objectID
    case uuid
}

/// The class that a link property points to, and its kind of key.
package struct LinkTarget: Hashable, Sendable {
    package let className: Text
    package let key: PrimaryKeySchema

    package init(className: Text, key: PrimaryKeySchema) {
        self.className = className
        self.key = key
    }
}

extension RealmSchema {
    /// The type of the property's values, or nil if it links to a class that does not exist.
    package func elementType(of property: PropertySchema) -> ElementType? {
        elementType(of: property.type)
    }

    package func elementType(of type: PropertyType) -> ElementType? {
        switch type {
        case .mixed: .mixed
        case .int: .scalar(.int)
        case .bool: .scalar(.bool)
        case .string: .scalar(.string)
        case .binary: .scalar(.binary)
        case .timestamp: .scalar(.timestamp)
        case .float: .scalar(.float)
        case .double: .scalar(.double)
        case .decimal: .scalar(.decimal)
        case .objectID: .scalar(.objectID)
        case .uuid: .scalar(.uuid)
        case .link(let target): self[target].map(Self.elementType(ofLinkTo:))
        }
    }

    private static func elementType(ofLinkTo target: ClassSchema) -> ElementType {
        switch target.kind {
        case .embedded:
            .embedded(className: target.name)
        case .topLevel(let key), .asymmetric(let key):
            .link(LinkTarget(className: target.name, key: key))
        }
    }
}
