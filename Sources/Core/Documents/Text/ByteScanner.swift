/// Scans the bytes of a short text.
struct ByteScanner {
    private let bytes: ArraySlice<UInt8>
    private(set) var position: Int

    init(_ bytes: [UInt8]) {
        self.init(bytes[...])
    }

    init(_ bytes: ArraySlice<UInt8>) {
        self.bytes = bytes
        self.position = bytes.startIndex
    }

    var isAtEnd: Bool { position == bytes.endIndex }

    /// The next byte, without consuming it.
    var peek: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    mutating func skip(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }

    mutating func skip(_ text: StaticString) -> Bool {
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
        guard bytes[position...].starts(with: expected) else { return false }
        position += expected.count
        return true
    }

    mutating func skipAll(where matches: (UInt8) -> Bool) {
        while let byte = peek, matches(byte) {
            position += 1
        }
    }

    mutating func digit() -> UInt8? {
        guard let byte = peek, byte.isASCIIDigit else { return nil }
        position += 1
        return byte - UInt8(ascii: "0")
    }

    /// Exactly that many digits, as a number.
    mutating func number(digits count: Int) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = 10 * value + Int64(digit)
        }
        return value
    }
}

extension UInt8 {
    var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    /// White space by SQLite's definition.
    var isASCIISpace: Bool { self == UInt8(ascii: " ") || 9...13 ~= self }
}
