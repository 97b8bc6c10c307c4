/// Base64 of RFC 4648, with padding.
package enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8
    )
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        var position = 0
        while position < bytes.count {
            let count = min(3, bytes.count - position)
            var group: UInt32 = 0
            for offset in 0..<3 {
                group = group << 8 | (offset < count ? UInt32(bytes[position + offset]) : 0)
            }
            for digit in 0..<4 {
                text.append(
                    digit <= count ? alphabet[Int(group >> (18 - 6 * digit) & 63)] : padding
                )
            }
            position += 3
        }
        return text
    }

    /// Nil unless `encode` could have written the text.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3)
        var position = 0
        while position < text.count {
            let isLast = position + 4 == text.count
            let paddings =
                !isLast || text[position + 3] != padding
                ? 0 : text[position + 2] == padding ? 2 : 1
            var group: UInt32 = 0
            for offset in 0..<4 - paddings {
                guard let digit = value(of: text[position + offset]) else { return nil }
                group |= digit << (18 - 6 * offset)
            }
            for offset in 0..<3 - paddings {
                bytes.append(UInt8(truncatingIfNeeded: group >> (16 - 8 * offset)))
            }
            // Unused bits must be zero: one value, one text.
            let unused: UInt32 = paddings == 0 ? 0 : 1 << (8 * UInt32(paddings)) - 1
            guard group & unused == 0 else { return nil }
            position += 4
        }
        return bytes
    }

    private static func value(of character: UInt8) -> UInt32? {
        switch character {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(character - UInt8(ascii: "A"))
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(character - UInt8(ascii: "a")) + 26
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(character - UInt8(ascii: "0")) + 52
        case UInt8(ascii: "+"): 62
        case UInt8(ascii: "/"): 63
        default: nil
        }
    }
}
