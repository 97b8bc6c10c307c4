/// Bytes as hexadecimal text and back.
package enum Hexadecimal {
    private static let digits = Array("0123456789abcdef".utf8)

    /// Two lower-case digits for each byte.
    package static func text(of bytes: some Sequence<UInt8>) -> String {
        var text: [UInt8] = []
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Nil if the text has an odd length or holds anything but hexadecimal digits.
    package static func bytes(of text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count / 2)
        var pending: UInt8?
        for character in text.utf8 {
            guard let digit = value(of: character) else { return nil }
            if let high = pending {
                bytes.append(high << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        return pending == nil ? bytes : nil
    }

    /// Appends the lower-case digits of an integer, leading zeros included.
    static func append(_ value: some FixedWidthInteger & UnsignedInteger, to text: inout [UInt8]) {
        for shift in stride(from: value.bitWidth - 4, through: 0, by: -4) {
            let digit = UInt8(truncatingIfNeeded: value >> shift) & 15
            text.append(digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10))
        }
    }

    /// Writes the lower-case digits of an integer, leading zeros included, to a buffer that has room for
    /// them.
    static func write(
        _ value: some FixedWidthInteger & UnsignedInteger,
        to text: UnsafeMutableRawBufferPointer,
        at start: Int
    ) {
        var rest = value
        for position in stride(from: start + value.bitWidth / 4 - 1, through: start, by: -1) {
            let digit = UInt8(truncatingIfNeeded: rest) & 15
            text[position] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
            rest >>= 4
        }
    }

    /// The value of a digit of either case; nil for other characters.
    package static func value(of character: UInt8) -> UInt8? {
        switch character {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): character - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): character - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): character - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

enum BigEndian {
    static func bytes<Integer: FixedWidthInteger>(of value: Integer) -> [UInt8] {
        withUnsafeBytes(of: value.bigEndian) { Array($0) }
    }
}
