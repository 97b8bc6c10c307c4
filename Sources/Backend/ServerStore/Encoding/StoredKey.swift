package import Changesets

/// The stored form of a primary key: its typed bytes, so that no two keys share theirs (local
/// realm, 11). Numbers are in an order that the table's index can follow.
///
/// The wire form of a number begins with its lowest bits, which puts neighbours as far apart as
/// possible. Each batch of new objects would touch every page of the table.
package enum StoredKey {
    /// Objects of classes without primary key have no typed bytes; their keys begin with this mark.
    private static let globalKeyMark: UInt8 = 0xff
    private static let intMark = UInt8(bitPattern: TypeCode.int.rawValue)

    package static func encode(_ key: ObjectKey) -> [UInt8] {
        switch key {
        case .int(let value):
            return number(UInt64(bitPattern: value) ^ (1 << 63), behind: intMark)
        case .globalKey(let key):
            return number(key.high, behind: globalKeyMark) + bytes(of: key.low)
        case .null, .string, .objectID, .uuid:
            return key.typedBytes
        }
    }

    package static func decode(_ bytes: [UInt8]) -> ObjectKey? {
        switch bytes.first {
        case intMark:
            guard bytes.count == 9 else { return nil }
            return .int(Int64(bitPattern: number(bytes[1...8]) ^ (1 << 63)))
        case globalKeyMark:
            guard bytes.count == 17 else { return nil }
            return .globalKey(GlobalKey(high: number(bytes[1...8]), low: number(bytes[9...16])))
        default:
            return ObjectKey(typedBytes: bytes)
        }
    }

    private static func number(_ number: UInt64, behind mark: UInt8) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 9) { bytes, count in
            bytes[0] = mark
            for position in 0..<8 {
                bytes[position + 1] = UInt8(truncatingIfNeeded: number >> (56 - 8 * position))
            }
            count = 9
        }
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
