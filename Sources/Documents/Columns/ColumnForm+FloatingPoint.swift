import Changesets

/// SQLite keeps every double but NaN, which is text here: `NaN`, or its bits (local realm, 2).
extension ColumnForm {
    static func encode(_ value: DoubleBits) -> ColumnValue {
        guard value.value.isNaN else { return .real(value.value) }
        return .text(NaNText.print(value.bitPattern, quiet: NaNText.quietDouble))
    }

    static func encode(_ value: FloatBits) -> ColumnValue {
        guard value.value.isNaN else { return .real(Double(value.value)) }
        return .text(NaNText.print(value.bitPattern, quiet: NaNText.quietFloat))
    }

    static func double(_ column: ColumnValue) throws(FormError) -> DoubleBits {
        switch column {
        case .real(let value):
            return DoubleBits(value)
        case .integer(let value):
            return DoubleBits(Double(value))
        case .text(let text):
            guard let bits = NaNText.parse(text, quiet: NaNText.quietDouble),
                Double(bitPattern: bits).isNaN
            else { throw FormError(.expected(.number)) }
            return DoubleBits(bitPattern: bits)
        case .null, .blob:
            throw FormError(.expected(.number))
        }
    }

    static func float(_ column: ColumnValue) throws(FormError) -> FloatBits {
        switch column {
        case .real(let value):
            return FloatBits(Float(value))
        case .integer(let value):
            return FloatBits(Float(Double(value)))
        case .text(let text):
            guard let bits = NaNText.parse(text, quiet: NaNText.quietFloat),
                Float(bitPattern: bits).isNaN
            else { throw FormError(.expected(.number)) }
            return FloatBits(bitPattern: bits)
        case .null, .blob:
            throw FormError(.expected(.number))
        }
    }
}

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
