import Crypto

/// The number of a table's rows, and a digest of them in any order.
///
/// Two stores return rows in different orders: the digests of rows are added up.
struct ContentDigest: Hashable, Sendable {
    private(set) var rows = 0
    private var sums: [UInt64] = [0, 0, 0, 0]

    mutating func add(_ row: [CopiedValue]) {
        var hash = SHA256()
        for value in row {
            switch value {
            case .integer(let number):
                hash.update(data: [0])
                withUnsafeBytes(of: number.littleEndian) { hash.update(bufferPointer: $0) }
            case .text(nil):
                hash.update(data: [1])
            case .text(let bytes?): Self.update(&hash, 2, bytes)
            case .bytes(let bytes): Self.update(&hash, 3, bytes)
            }
        }
        rows += 1
        hash.finalize().withUnsafeBytes { bytes in
            for place in sums.indices {
                sums[place] &+= bytes.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self)
            }
        }
    }

    private static func update(_ hash: inout SHA256, _ kind: UInt8, _ bytes: [UInt8]) {
        hash.update(data: [kind])
        withUnsafeBytes(of: UInt64(bytes.count).littleEndian) { hash.update(bufferPointer: $0) }
        hash.update(data: bytes)
    }
}
