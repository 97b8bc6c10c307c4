/// Bytes that arrive in pieces, and leave from the front.
struct ByteQueue {
    private var bytes: [UInt8] = []
    private var start = 0
    /// Of the first byte that is left, in the whole stream.
    private(set) var offset: UInt64 = 0

    var count: Int { bytes.count - start }

    mutating func append(_ more: some Collection<UInt8>) {
        if start > 0 {
            bytes.removeSubrange(..<start)
            start = 0
        }
        bytes += more
    }

    /// The byte at a distance from the front.
    subscript(distance: Int) -> UInt8 { bytes[start + distance] }

    func prefix(_ count: Int) -> ArraySlice<UInt8> {
        bytes[start..<start + min(count, self.count)]
    }

    var rest: ArraySlice<UInt8> { bytes[start...] }

    mutating func remove(_ count: Int) {
        start += count
        offset &+= UInt64(count)
    }

    /// Four bytes, the lowest first; nil if there are fewer.
    var int32: Int32? {
        guard count >= 4 else { return nil }
        var number: UInt32 = 0
        for position in 0..<4 { number |= UInt32(self[position]) << UInt32(8 * position) }
        return Int32(bitPattern: number)
    }
}
