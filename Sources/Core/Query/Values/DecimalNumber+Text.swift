/// Decimals as text (query as recorded, 28 and 49).
extension DecimalNumber {
    /// The whole text must be a number: digits with optional point and exponent, or `inf` or `nan`
    /// in any case, with an optional sign.
    init?(text: ArraySlice<UInt8>) {
        var rest = text
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        switch String(decoding: rest, as: UTF8.self).lowercased() {
        case "inf", "infinity":
            self = .infinity(isNegative: isNegative)
            return
        case "nan":
            self = DecimalNumber(isNegativeNaN: isNegative)
            return
        default: break
        }
        var (coefficient, exponent, digitCount): (UInt128, Int, Int) = (0, 0, 0)
        var (hasDigits, hasPoint, isInexact) = (false, false, false)
        while let byte = rest.first {
            if byte.isASCIIDigit {
                hasDigits = true
                let digit = UInt128(byte - UInt8(ascii: "0"))
                if digitCount > 0 || digit > 0 { digitCount += 1 }
                // Two digits beyond the precision, and the rest as one bit, decide the rounding.
                if digitCount <= 36 {
                    coefficient = coefficient * 10 + digit
                } else {
                    isInexact = isInexact || digit > 0
                    exponent += 1
                }
                if hasPoint { exponent -= 1 }
            } else if byte == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else {
                break
            }
            rest = rest.dropFirst()
        }
        guard hasDigits else { return nil }
        if let mark = rest.first, mark | 0x20 == UInt8(ascii: "e") {
            rest = rest.dropFirst()
            let isNegativeExponent = rest.first == UInt8(ascii: "-")
            if isNegativeExponent || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
            let digits = rest.prefix { $0.isASCIIDigit }
            guard !digits.isEmpty else { return nil }
            // Far out of range, the exact exponent does not matter.
            let value = Int(min(IntegerText.parseDecimal(digits), 1_000_000))
            exponent += isNegativeExponent ? -value : value
            rest = rest.dropFirst(digits.count)
        }
        guard rest.isEmpty else { return nil }
        self.init(
            rounding: coefficient,
            exponent: exponent,
            isNegative: isNegative,
            isInexact: isInexact
        )
    }

    private init(isNegativeNaN isNegative: Bool) {
        self = isNegative ? .negativeNotANumber : .notANumber
    }

    /// `1.50`, `1E-1`, `0E3`; a coefficient of more than 64 bits as `+123E+0`.
    var text: String {
        let sign = isNegative ? "-" : ""
        switch kind {
        case .notANumber: return sign + "NaN"
        case .infinite: return sign + "Inf"
        case .finite: break
        }
        guard coefficient <= UInt128(UInt64.max) else {
            let exponentSign = exponent < 0 ? "" : "+"
            return "\(isNegative ? "-" : "+")\(coefficient)E\(exponentSign)\(exponent)"
        }
        let digits = String(UInt64(coefficient))
        var (before, rest) = (digits.count, exponent)
        // The point moves left until the exponent is used up, or one digit remains before it.
        if rest != 0 {
            let moved = rest < 0 ? min(-rest, before - 1) : before - 1
            before -= moved
            rest += moved
        }
        let whole = digits.prefix(before)
        let fraction = digits.dropFirst(before)
        return sign + whole + (fraction.isEmpty ? "" : "." + fraction)
            + (rest == 0 ? "" : "E\(rest)")
    }
}
