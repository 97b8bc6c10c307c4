/// Reads the escape sequences of JSON strings.
package enum JSONEscape {
    package enum Problem: Error, Hashable, Sendable {
        /// The text ends at this offset.
        case truncated(at: Int)
        case unknown
        /// Half of a surrogate pair.
        case unpairedSurrogate
    }

    /// Appends the character of the sequence whose backslash is at an offset, as UTF-8. Returns the offset behind
    /// the sequence: one, or two that form a surrogate pair.
    package static func read(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int,
        into text: inout [UInt8]
    ) throws(Problem) -> Int {
        guard start + 1 < bytes.count else { throw .truncated(at: bytes.count) }
        let escaped = bytes[start + 1]
        switch escaped {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escaped)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            let (scalar, end) = try scalar(bytes, at: start + 2)
            text.append(contentsOf: String(Character(scalar)).utf8)
            return end
        default: throw .unknown
        }
        return start + 2
    }

    /// The digits of `\u`, or of two such sequences.
    private static func scalar(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) throws(Problem) -> (Unicode.Scalar, end: Int) {
        let first = try unit(bytes, at: start)
        let end = start + 4
        if let scalar = Unicode.Scalar(first) { return (scalar, end) }
        guard 0xd800..<0xdc00 ~= first, end + 1 < bytes.count,
            bytes[end] == UInt8(ascii: "\\"), bytes[end + 1] == UInt8(ascii: "u")
        else { throw .unpairedSurrogate }
        let second = try unit(bytes, at: end + 2)
        guard 0xdc00..<0xe000 ~= second,
            let scalar = Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
        else { throw .unpairedSurrogate }
        return (scalar, end + 6)
    }

    private static func unit(
        _ bytes: UnsafeBufferPointer<UInt8>,
        at start: Int
    ) throws(Problem) -> UInt32 {
        guard start + 4 <= bytes.count else { throw .truncated(at: start) }
        var unit: UInt32 = 0
        for byte in bytes[start..<start + 4] {
            let digit: UInt8
            switch byte {
            case 0x30...0x39: digit = byte - 0x30
            case 0x41...0x46: digit = byte - 0x41 + 10
            case 0x61...0x66: digit = byte - 0x61 + 10
            default: throw .unknown
            }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }
}
