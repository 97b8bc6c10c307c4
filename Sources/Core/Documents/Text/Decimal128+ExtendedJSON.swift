package import Changesets

extension Decimal128 {
    /// The number as `$numberDecimal` has it: every digit of the coefficient. Bits that no number says
    /// are NaN there.
    package var extendedJSONText: String {
        let text = String(decoding: DecimalText.print(self), as: UTF8.self)
        return text.hasPrefix("#") ? "NaN" : text
    }
}
