package import Changesets

/// One property of a class, other than the primary key (instruction semantics, 1.4).
package struct PropertySchema: Hashable, Sendable {
    package let name: Text
    package let type: PropertyType
    /// Whether the value, or in a collection each element, may be null.
    package let isNullable: Bool
    package let collection: CollectionType

    package init(
        name: Text,
        type: PropertyType,
        isNullable: Bool,
        collection: CollectionType = .single
    ) {
        self.name = name
        self.type = type
        self.isNullable = isNullable
        self.collection = collection
    }

    /// Whether the value, or in a collection each element, can actually be null.
    ///
    /// For Mixed and links the column does not matter: Mixed always can, and so can a link, except
    /// as an element of a list or set (instruction semantics, 1.4).
    package var acceptsNull: Bool {
        switch type {
        case .mixed: true
        case .link: collection == .single || collection == .dictionary
        case .int, .bool, .string, .binary, .timestamp, .float, .double, .decimal, .objectID, .uuid:
            isNullable
        }
    }
}

/// The type of a property's value, or of the elements of its collection.
package enum PropertyType: Hashable, Sendable {
    /// Null, any scalar, a link to any top-level class, or a nested list or dictionary.
    case mixed
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
    /// A link to a top-level class, or the owner of an object of an embedded class.
    case link(target: Text)

    /// The code of the AddColumn instruction.
    package var typeCode: TypeCode {
        switch self {
        case .mixed: .null
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .objectID: .objectID
        case .uuid: .uuid
        case .link: .link
        }
    }
}
