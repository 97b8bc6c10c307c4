package import Changesets

/// A value in a comparison: a constant, a property or an element of one.
package enum QueryValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case float(Float)
    case double(Double)
    case decimal(DecimalNumber)
    case string([UInt8])
    case binary([UInt8])
    case date(QueryDate)
    case objectID(ObjectID)
    case uuid(UniqueID)
    case link(ObjectReference)
    /// The result of `.@type`.
    case kinds(ValueKinds)
    /// A list or dictionary in a Mixed property: only its kind and its size can be compared.
    case nested(isList: Bool, count: Int)
}

extension QueryValue {
    package init(_ scalar: Scalar) {
        switch scalar {
        case .null: self = .null
        case .int(let value): self = .int(value)
        case .bool(let value): self = .bool(value)
        case .string(let value): self = .string(value.bytes)
        case .binary(let value): self = .binary(value)
        case .timestamp(let value): self = .date(QueryDate(value))
        case .float(let value): self = .float(value.value)
        case .double(let value): self = .double(value.value)
        case .decimal(let value): self = .decimal(DecimalNumber(value))
        case .link(let value): self = .link(value)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        }
    }

    package init(_ key: ObjectKey) {
        switch key {
        case .null, .globalKey: self = .null
        case .int(let value): self = .int(value)
        case .string(let value): self = .string(value.bytes)
        case .objectID(let value): self = .objectID(value)
        case .uuid(let value): self = .uuid(value)
        }
    }

    /// The bytes of text or binary data.
    var bytes: [UInt8]? {
        switch self {
        case .string(let bytes), .binary(let bytes): bytes
        case .null, .bool, .int, .float, .double, .decimal, .date, .objectID, .uuid, .link, .kinds,
            .nested:
            nil
        }
    }

    var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal: true
        case .null, .bool, .string, .binary, .date, .objectID, .uuid, .link, .kinds, .nested: false
        }
    }
}
