package import Changesets

extension Decimal128 {
    /// The number as in `$numberDecimal`: every digit of the coefficient. Non-canonical bits are
    /// NaN there.
    package var extendedJSONText: String {
        let text = String(decoding: DecimalText.print(self), as: UTF8.self)
        return text.hasPrefix("#") ? "NaN" : text
    }
}
