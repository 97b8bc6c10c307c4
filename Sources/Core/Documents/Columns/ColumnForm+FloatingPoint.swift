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
