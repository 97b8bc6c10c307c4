/// The number at the start of a string, as the reference reads it for a numeric property (query as
/// recorded, 28).
enum NumberPrefix {
    /// Leading blanks, a sign and decimal digits; the rest is ignored. Nil without digits or out of
    /// range.
    static func int(_ text: [UInt8]) -> Int64? {
        var rest = text.drop(while: \.isBlank)
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        let digits = rest.prefix { $0.isASCIIDigit }
        guard !digits.isEmpty else { return nil }
        return Int64((isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self))
    }

    /// The text of a floating-point number: digits with a point and an exponent, or a word for infinity or
    /// NaN that is the whole string.
    static func double(_ text: [UInt8]) -> String? {
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "nan", "+nan": return "nan"
        case "-nan": return "-nan"
        case "inf", "+inf", "infinity", "+infinity": return "inf"
        case "-inf", "-infinity": return "-inf"
        default: break
        }
        var rest = text.drop(while: \.isBlank)
        var number: [UInt8] = []
        func skipSign() {
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
                number.append(sign)
                rest = rest.dropFirst()
            }
        }
        func skipDigits() -> Bool {
            let digits = rest.prefix { $0.isASCIIDigit }
            number += digits
            rest = rest.dropFirst(digits.count)
            return !digits.isEmpty
        }
        skipSign()
        var hasDigits = skipDigits()
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            if !hasDigits { number.append(UInt8(ascii: "0")) }
            number.append(UInt8(ascii: "."))
            let hasFraction = skipDigits()
            if !hasFraction { number.append(UInt8(ascii: "0")) }
            hasDigits = hasDigits || hasFraction
        }
        guard hasDigits else { return nil }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            number.append(UInt8(ascii: "e"))
            skipSign()
            // An exponent without digits makes the number invalid.
            guard skipDigits() else { return nil }
        }
        return String(decoding: number, as: UTF8.self)
    }

    static func double(_ text: String) -> QueryValue? {
        guard let value = Double(text), isInRange(value, text) else { return nil }
        return .double(value)
    }

    static func float(_ text: String) -> QueryValue? {
        guard let value = Float(text), isInRange(Double(value), text) else { return nil }
        return .float(value)
    }

    private static func isInRange(_ value: Double, _ text: String) -> Bool {
        !value.isInfinite || text.hasSuffix("inf")
    }

    /// The whole text must be a number, and not `nan`.
    static func decimal(_ text: [UInt8]) -> DecimalNumber? {
        guard let number = DecimalNumber(text: text.drop(while: \.isBlank)),
            number.kind != .notANumber
        else {
            return nil
        }
        return number
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == 0x20 || (0x09...0x0d).contains(self) }
}
