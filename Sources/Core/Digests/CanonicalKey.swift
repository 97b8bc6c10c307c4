package import Changesets

/// Reads the canonical bytes of a key back.
package enum CanonicalKey {
    /// Nil unless the bytes are exactly one key.
    package static func decode(_ bytes: [UInt8]) -> ObjectKey? {
        let rest = bytes.dropFirst()
        switch bytes.first {
        case 0: return rest.isEmpty ? .null : nil
        case 1: return number(rest).map { .int(Int64(bitPattern: $0)) }
        case 3:
            guard let count = number(rest.prefix(8)), count == UInt64(rest.count - 8) else {
                return nil
            }
            return .string(Text(bytes: Array(rest.dropFirst(8))))
        case 10: return ObjectID(bytes: rest).map { .objectID($0) }
        case 11: return UniqueID(bytes: rest).map { .uuid($0) }
        case 12:
            guard let high = number(rest.prefix(8)), let low = number(rest.dropFirst(8)) else {
                return nil
            }
            return .globalKey(GlobalKey(high: high, low: low))
        default: return nil
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64? {
        guard bytes.count == 8 else { return nil }
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
