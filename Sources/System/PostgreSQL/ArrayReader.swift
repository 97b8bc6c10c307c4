/// Reads an array in binary form: a header, then the elements behind their lengths.
///
/// All numbers come from the server; none of them is used before it is held to the bytes that are there.
struct ArrayReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// The number of elements; each has at least four bytes.
    let count: Int

    init(_ bytes: UnsafeRawBufferPointer, of type: TypeID) throws(PostgreSQLError) {
        self.bytes = bytes
        let dimensions = try Self.number(in: bytes, at: 0)
        guard try Self.number(in: bytes, at: 8) == Int32(type.rawValue) else {
            throw .malformed("an array has elements of an unexpected type")
        }
        switch dimensions {
        case 0:
            count = 0
            offset = 12
        case 1:
            let announced = try Self.number(in: bytes, at: 12)
            _ = try Self.number(in: bytes, at: 16)
            offset = 20
            guard announced >= 0, Int(announced) <= (bytes.count - offset) / 4 else {
                throw .malformed("an array announces more elements than it holds")
            }
            count = Int(announced)
        default:
            throw .malformed("an array has \(dimensions) dimensions")
        }
    }

    /// The next element's bytes; nil is NULL.
    mutating func next() throws(PostgreSQLError) -> UnsafeRawBufferPointer? {
        let length = try Self.number(in: bytes, at: offset)
        offset += 4
        if length == -1 { return nil }
        guard length >= 0, Int(length) <= bytes.count - offset else {
            throw .malformed("an element of an array is cut off")
        }
        defer { offset += Int(length) }
        return UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + Int(length)])
    }

    /// Fails if bytes are left.
    func finish() throws(PostgreSQLError) {
        guard offset == bytes.count else { throw .malformed("an array has bytes behind its end") }
    }

    private static func number(
        in bytes: UnsafeRawBufferPointer,
        at offset: Int
    ) throws(PostgreSQLError) -> Int32 {
        guard offset <= bytes.count - 4 else { throw .malformed("an array is cut off") }
        return Int32(bigEndian: bytes.loadUnaligned(fromByteOffset: offset, as: Int32.self))
    }
}
