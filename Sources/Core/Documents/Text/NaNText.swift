import Changesets

/// `NaN` for the quiet pattern, `NaN:<hex bits>` for the others.
enum NaNText {
    static let quietDouble: UInt64 = 0x7ff8_0000_0000_0000
    static let quietFloat: UInt32 = 0x7fc0_0000

    static func print<Bits: FixedWidthInteger & UnsignedInteger>(
        _ bits: Bits,
        quiet: Bits
    ) -> [UInt8] {
        guard bits != quiet else { return Array("NaN".utf8) }
        let digits = String(bits, radix: 16)
        let padding = String(repeating: "0", count: Bits.bitWidth / 4 - digits.count)
        return Array("NaN:\(padding)\(digits)".utf8)
    }

    static func parse<Bits: FixedWidthInteger & UnsignedInteger>(
        _ text: [UInt8],
        quiet: Bits
    ) -> Bits? {
        var scanner = ByteScanner(text)
        guard scanner.skip("NaN") else { return nil }
        if scanner.isAtEnd { return quiet }
        guard scanner.skip(UInt8(ascii: ":")) else { return nil }
        let digits = text[scanner.position...]
        guard digits.count == Bits.bitWidth / 4,
            let bytes = Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self))
        else { return nil }
        return bytes.reduce(0) { $0 << 8 | Bits($1) }
    }
}
