import BSON
import Changesets
import Schemas

/// Reads the default of a property.
enum DefaultConversion {
    /// Nil if the value does not have the type.
    static func scalar(_ tree: JSONTree, _ type: PropertyType) -> Scalar? {
        guard let value = try? BSONValue(extendedJSON: tree) else { return nil }
        switch (value, type) {
        case (.null, _): return .null
        case (.bool(let value), .bool): return .bool(value)
        case (.string(let value), .string): return .string(value)
        case (.int32(let value), .int): return .int(Int64(value))
        case (.int64(let value), .int): return .int(value)
        case (.double(let value), .int): return Int64(exactly: value.value).map { .int($0) }
        case (.double(let value), .double): return .double(value)
        case (.int32(let value), .double): return .double(DoubleBits(Double(value)))
        case (.double(let value), .float): return .float(FloatBits(Float(value.value)))
        case (.int32(let value), .float): return .float(FloatBits(Float(value)))
        case (.decimal(let value), .decimal): return .decimal(value)
        case (.objectID(let value), .objectID): return .objectID(value)
        case (.binary(4, let bytes), .uuid): return UniqueID(bytes: bytes).map { .uuid($0) }
        case (.binary(0, let bytes), .binary): return .binary(bytes)
        case (.date(let milliseconds), .timestamp):
            return Timestamp(milliseconds: milliseconds).map { .timestamp($0) }
        default: return nil
        }
    }
}

extension Timestamp {
    /// Both parts have the sign of the milliseconds.
    init?(milliseconds: Int64) {
        self.init(seconds: milliseconds / 1000, nanoseconds: milliseconds % 1000 * 1_000_000)
    }
}
