import Schemas

/// The type of one side of a comparison (flexible sync, 12.4).
enum QueryType: Hashable, Sendable {
    case int, bool, string, binary, mixed, date, float, double, decimal, objectID, uuid
    /// A link of a property whose class is known.
    case link
    /// `.@type`.
    case kinds
    /// A null without a type from a property.
    case null

    init(_ type: PropertyType) {
        switch type {
        case .mixed: self = .mixed
        case .int: self = .int
        case .bool: self = .bool
        case .string: self = .string
        case .binary: self = .binary
        case .timestamp: self = .date
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .link: self = .link
        }
    }

    /// Of a constant.
    init(of value: QueryValue) {
        switch value {
        case .null: self = .null
        case .bool: self = .bool
        case .int: self = .int
        case .float: self = .float
        case .double: self = .double
        case .decimal: self = .decimal
        case .string: self = .string
        case .binary: self = .binary
        case .date: self = .date
        case .objectID: self = .objectID
        case .uuid: self = .uuid
        case .link: self = .link
        case .kinds: self = .kinds
        case .nested: self = .mixed
        }
    }

    var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        case .bool, .string, .binary, .mixed, .date, .objectID, .uuid, .link, .kinds, .null: false
        }
    }

    /// Whether values of the two types can be compared at all.
    func isComparable(with other: QueryType) -> Bool {
        self == other || isNumber && other.isNumber || self == .mixed || other == .mixed
            || self == .null || other == .null
    }

    var isBytes: Bool { self == .string || self == .binary }

    /// For messages.
    var name: String {
        switch self {
        case .int: "int"
        case .bool: "bool"
        case .string: "string"
        case .binary: "binary"
        case .mixed: "mixed"
        case .date: "date"
        case .float: "float"
        case .double: "double"
        case .decimal: "decimal"
        case .objectID: "objectId"
        case .uuid: "uuid"
        case .link: "link"
        case .kinds: "@type"
        case .null: "null"
        }
    }
}
