/// The digest of a stored document, eight bytes (moving an app, 6.4). It detects changes, not forgeries.
enum DocumentDigest {
    static func of(_ bytes: some Collection<UInt8>) -> UInt64 {
        let fast = bytes.withContiguousStorageIfAvailable { digest(UnsafeRawBufferPointer($0)) }
        return fast ?? Array(bytes).withUnsafeBytes { digest($0) }
    }

    private static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state: UInt64 = 0x9e37_79b9_7f4a_7c15 ^ UInt64(bytes.count)
        var position = 0
        while position + 8 <= bytes.count {
            mix(&state, bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
            position += 8
        }
        var rest: UInt64 = 0
        for index in position..<bytes.count { rest = rest << 8 | UInt64(bytes[index]) }
        mix(&state, rest)
        mix(&state, 0)
        return state
    }

    private static func mix(_ state: inout UInt64, _ word: UInt64) {
        state = (state ^ UInt64(littleEndian: word)) &* 0xff51_afd7_ed55_8ccd
        state ^= state >> 32
    }
}
