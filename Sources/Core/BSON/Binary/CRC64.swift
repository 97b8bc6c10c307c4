/// The checksum of a collection in an archive: CRC-64 with the polynomial of ECMA-182, reflected
/// (moving an app, 1.2).
package struct CRC64: Sendable {
    private var state = UInt64.max

    package init() {}

    package var value: UInt64 { state ^ .max }

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            state = Self.table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8)
        }
    }

    private static let table: [UInt64] = (0..<256).map { index in
        var entry = UInt64(index)
        for _ in 0..<8 {
            entry = (entry >> 1) ^ (entry & 1 == 1 ? 0xc96c_5795_d787_0f42 : 0)
        }
        return entry
    }
}
