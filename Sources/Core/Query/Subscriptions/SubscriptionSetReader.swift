import Changesets

/// Reads a JSON object of strings member by member.
///
/// Strings keep their bytes even where these are not UTF-8, which the reference client sends for text
/// with unpaired surrogates (query as recorded, 50); JSON decoders refuse them.
struct SubscriptionSetReader {
    private let bytes: [UInt8]
    private var offset = 0
    private var isFirst = true

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The next member; nil at the end of the whole text.
    mutating func next() throws(SubscriptionSetError) -> (name: [UInt8], value: [UInt8])? {
        if isFirst {
            try expect("{", "\"{\"")
            isFirst = false
            if take("}") { return try end() }
        } else {
            if take("}") { return try end() }
            try expect(",", "\",\" or \"}\"")
        }
        let name = try readString("the name of a class")
        try expect(":", "\":\"")
        return (name, try readString("a query as a string"))
    }

    private mutating func end() throws(SubscriptionSetError) -> (name: [UInt8], value: [UInt8])? {
        skipBlanks()
        guard offset == bytes.count else { throw missing("the end") }
        return nil
    }

    private func missing(_ expected: String) -> SubscriptionSetError {
        .malformed(offset: offset, expected: expected)
    }

    private mutating func skipBlanks() {
        while offset < bytes.count, [0x20, 0x09, 0x0a, 0x0d].contains(bytes[offset]) { offset += 1 }
    }

    private mutating func take(_ sign: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: sign) else { return false }
        offset += 1
        return true
    }

    private mutating func expect(
        _ sign: Unicode.Scalar,
        _ name: String
    ) throws(SubscriptionSetError) {
        guard take(sign) else { throw missing(name) }
    }

    // MARK: Strings

    private mutating func readString(_ expected: String) throws(SubscriptionSetError) -> [UInt8] {
        try expect("\"", expected)
        var text: [UInt8] = []
        while offset < bytes.count {
            let byte = bytes[offset]
            switch byte {
            case UInt8(ascii: "\""):
                offset += 1
                return text
            case UInt8(ascii: "\\"): try readEscape(into: &text)
            case 0..<0x20: throw missing("an escape for a control character")
            default:
                text.append(byte)
                offset += 1
            }
        }
        throw missing("the quote that ends a string")
    }

    private mutating func readEscape(into text: inout [UInt8]) throws(SubscriptionSetError) {
        let letter = offset + 1 < bytes.count ? bytes[offset + 1] : 0
        if letter == UInt8(ascii: "u") {
            let scalar = try readScalar()
            text += Array(String(Character(scalar)).utf8)
            return
        }
        let character: UInt8
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): character = letter
        case UInt8(ascii: "b"): character = 0x08
        case UInt8(ascii: "f"): character = 0x0c
        case UInt8(ascii: "n"): character = 0x0a
        case UInt8(ascii: "r"): character = 0x0d
        case UInt8(ascii: "t"): character = 0x09
        default: throw missing("an escape of JSON")
        }
        text.append(character)
        offset += 2
    }

    /// `\u0041`, or a pair of surrogates.
    private mutating func readScalar() throws(SubscriptionSetError) -> Unicode.Scalar {
        guard let unit = codeUnit(at: offset) else { throw missing("an escape of four digits") }
        if let scalar = Unicode.Scalar(unit) {
            offset += 6
            return scalar
        }
        guard (0xd800..<0xdc00).contains(unit), let low = codeUnit(at: offset + 6),
            (0xdc00..<0xe000).contains(low),
            let scalar = Unicode.Scalar(0x1_0000 + (unit - 0xd800) << 10 + (low - 0xdc00))
        else { throw missing("a pair of surrogates") }
        offset += 12
        return scalar
    }

    /// The four digits of the escape at the index.
    private func codeUnit(at index: Int) -> UInt32? {
        guard bytes.count - index >= 6, bytes[index] == UInt8(ascii: "\\"),
            bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt32 = 0
        for byte in bytes[index + 2..<index + 6] {
            guard let digit = Hexadecimal.value(of: byte) else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
