/// The value of an instruction; strings of links are in the changeset's string table (changesets
/// spec, 4.1).
package enum Payload: Hashable, Sendable {
    case null
    case int(Int64)
    case bool(Bool)
    case string(Text)
    case binary([UInt8])
    case timestamp(Timestamp)
    case float(FloatBits)
    case double(DoubleBits)
    case decimal(Decimal128)
    case link(className: InternIndex, key: PrimaryKey)
    case objectID(ObjectID)
    case uuid(UniqueID)
    /// An embedded object.
    case objectValue
    /// A dictionary (Mixed only).
    case dictionary
    /// A list (Mixed only).
    case list
    /// A nested set: reserved, no applier accepts it.
    case set
    /// The dictionary key is removed.
    case erased

    /// The code at the start of the payload on the wire.
    package var typeCode: TypeCode {
        switch self {
        case .null: .null
        case .int: .int
        case .bool: .bool
        case .string: .string
        case .binary: .binary
        case .timestamp: .timestamp
        case .float: .float
        case .double: .double
        case .decimal: .decimal
        case .link: .link
        case .objectID: .objectID
        case .uuid: .uuid
        case .objectValue: .objectValue
        case .dictionary: .dictionary
        case .list: .list
        case .set: .set
        case .erased: .erased
        }
    }
}

extension Payload {
    /// The payload of a scalar; nil for a link, whose strings need a table.
    package init?(withoutStrings scalar: Scalar) {
        switch scalar {
        case .null: self = .null
        case .int(let value): self = .int(value)
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value)
        case .binary(let value): self = .binary(value)
        case .timestamp(let value): self = .timestamp(value)
        case .float(let value): self = .float(value)
        case .double(let value): self = .double(value)
        case .decimal(let value): self = .decimal(value)
        case .link: return nil
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        }
    }
}

/// Type codes of payloads, keys and columns (changesets spec, 4.1).
package enum TypeCode: Int8, Sendable, CaseIterable {
    case set = -6
    case list = -5
    case erased = -4
    case dictionary = -3
    case objectValue = -2
    case globalKey = -1
    /// As the type of a column: Mixed.
    case null = 0
    case int = 1
    case bool = 2
    case string = 3
    case binary = 4
    case timestamp = 5
    case float = 6
    case double = 7
    case decimal = 8
    case link = 9
    case objectID = 10
    case uuid = 11
}

/// A single value or a kind of collection (changesets spec, 4.4).
package enum CollectionType: UInt8, Sendable {
    case single = 0
    case list = 1
    case dictionary = 2
    case set = 3
}
