/// Base64 of RFC 4648, with padding.
package enum Base64 {
    private static let padding = UInt8(ascii: "=")

    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        let capacity = (bytes.count + 2) / 3 * 4
        return [UInt8](unsafeUninitializedCapacity: capacity) { text, count in
            guard let start = text.baseAddress else { return }
            count = bytes.withUnsafeBufferPointer { write($0, to: start) }
        }
    }

    /// Writes the text to a place with room for it: four bytes for each three, the last ones rounded up.
    /// Returns its length.
    package static func write(
        _ bytes: UnsafeBufferPointer<UInt8>,
        to text: UnsafeMutablePointer<UInt8>
    ) -> Int {
        let alphabet: StaticString =
            "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
        let digits = alphabet.utf8Start
        var (position, end) = (0, 0)
        while position + 3 <= bytes.count {
            let group =
                UInt32(bytes[position]) << 16 | UInt32(bytes[position + 1]) << 8
                | UInt32(bytes[position + 2])
            text[end] = digits[Int(group >> 18)]
            text[end + 1] = digits[Int(group >> 12 & 63)]
            text[end + 2] = digits[Int(group >> 6 & 63)]
            text[end + 3] = digits[Int(group & 63)]
            position += 3
            end += 4
        }
        let rest = bytes.count - position
        guard rest > 0 else { return end }
        let group =
            UInt32(bytes[position]) << 16 | (rest > 1 ? UInt32(bytes[position + 1]) << 8 : 0)
        text[end] = digits[Int(group >> 18)]
        text[end + 1] = digits[Int(group >> 12 & 63)]
        text[end + 2] = rest > 1 ? digits[Int(group >> 6 & 63)] : padding
        text[end + 3] = padding
        return end + 4
    }

    /// Nil unless `encode` could have written the text.
    package static func decode(_ text: [UInt8]) -> [UInt8]? {
        text.withUnsafeBufferPointer { decode($0) }
    }

    package static func decode(_ text: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        guard text.count % 4 == 0 else { return nil }
        guard text.count > 0 else { return [] }
        let paddings =
            text[text.count - 1] != padding ? 0 : text[text.count - 2] == padding ? 2 : 1
        let capacity = text.count / 4 * 3
        var isValid = true
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { bytes, count in
            isValid = decode(text, paddings, into: bytes)
            count = isValid ? capacity - paddings : 0
        }
        return isValid ? bytes : nil
    }

    /// Writes three bytes for each four of the text, except for those that the paddings replace.
    private static func decode(
        _ text: UnsafeBufferPointer<UInt8>,
        _ paddings: Int,
        into bytes: UnsafeMutableBufferPointer<UInt8>
    ) -> Bool {
        var end = 0
        for position in stride(from: 0, to: text.count, by: 4) {
            let missing = position + 4 == text.count ? paddings : 0
            var group: UInt32 = 0
            for offset in 0..<4 - missing {
                guard let digit = value(of: text[position + offset]) else { return false }
                group |= digit << (18 - 6 * UInt32(offset))
            }
            bytes[end] = UInt8(truncatingIfNeeded: group >> 16)
            if missing < 2 { bytes[end + 1] = UInt8(truncatingIfNeeded: group >> 8) }
            if missing < 1 { bytes[end + 2] = UInt8(truncatingIfNeeded: group) }
            // Unused bits must be zero: one value, one text.
            let unused: UInt32 = missing == 0 ? 0 : 1 << (8 * UInt32(missing)) - 1
            guard group & unused == 0 else { return false }
            end += 3 - missing
        }
        return true
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
