import Changesets

/// Whole numbers as the reference reads them (query as recorded, 9).
enum IntegerText {
    /// Decimal, octal after a leading 0, hexadecimal after `0x`, with an optional sign. Ends at the
    /// first byte that is not a digit, and saturates.
    static func parse(_ text: ArraySlice<UInt8>) -> Int64 {
        var digits = text
        let isNegative = digits.first == UInt8(ascii: "-")
        if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
        var radix: UInt64 = 10
        if digits.first == UInt8(ascii: "0") {
            let mark = digits.dropFirst().first
            radix = mark.map { $0 | 0x20 } == UInt8(ascii: "x") ? 16 : 8
            digits = digits.dropFirst(radix == 16 ? 2 : 1)
        }
        return parse(digits, radix: radix, isNegative: isNegative)
    }

    static func parseDecimal(_ digits: ArraySlice<UInt8>) -> Int64 {
        parse(digits, radix: 10, isNegative: false)
    }

    static func parse(_ digits: ArraySlice<UInt8>, radix: UInt64, isNegative: Bool) -> Int64 {
        var magnitude: UInt64 = 0
        for byte in digits {
            guard let digit = Hexadecimal.value(of: byte).map(UInt64.init), digit < radix else {
                break
            }
            let (product, overflows) = magnitude.multipliedReportingOverflow(by: radix)
            let (sum, carries) = product.addingReportingOverflow(digit)
            guard !overflows, !carries else { return isNegative ? .min : .max }
            magnitude = sum
        }
        if isNegative { return Int64(exactly: magnitude).map { -$0 } ?? .min }
        return Int64(clamping: magnitude)
    }
}
