import Changesets

/// A primary key at rest: its typed bytes, so that no two keys share theirs (local realm, 11).
enum StoredKey {
    /// Objects of classes without primary key have no typed bytes; this stands in front of theirs.
    private static let globalKeyMark: UInt8 = 0xff

    static func encode(_ key: ObjectKey) -> [UInt8] {
        guard case .globalKey(let key) = key else { return key.typedBytes }
        return [globalKeyMark] + bytes(of: key.high) + bytes(of: key.low)
    }

    static func decode(_ bytes: [UInt8]) -> ObjectKey? {
        guard bytes.first == globalKeyMark else { return ObjectKey(typedBytes: bytes) }
        guard bytes.count == 17 else { return nil }
        return .globalKey(GlobalKey(high: number(bytes[1...8]), low: number(bytes[9...16])))
    }

    private static func bytes(of number: UInt64) -> [UInt8] {
        stride(from: UInt64(56), through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> $0) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
}
