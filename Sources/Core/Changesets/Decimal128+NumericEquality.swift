extension Decimal128 {
    /// Whether both are the same number: 1.0 and 1.00 are, and so are +0 and -0.
    ///
    /// NaN equals only the same bits, so this is an equivalence (merge rules, 4, "same payload").
    package func isNumericallyEqual(to other: Decimal128) -> Bool {
        if self == other { return true }
        if isNaN || other.isNaN { return false }
        if isInfinite || other.isInfinite {
            return isInfinite == other.isInfinite && isNegative == other.isNegative
        }
        let (left, right) = (reduced, other.reduced)
        if left.coefficient == 0 || right.coefficient == 0 {
            return left.coefficient == right.coefficient
        }
        return isNegative == other.isNegative && left == right
    }

    /// A finite number without the trailing zeros of its coefficient.
    private var reduced: (coefficient: UInt128, exponent: Int32) {
        var coefficient = UInt128(coefficientHigh) << 64 | UInt128(coefficientLow)
        var exponent = exponent
        // Encodings with a coefficient beyond 34 digits are not canonical and mean zero. So do all
        // those whose combination field starts with 11: their implied coefficient is larger.
        guard coefficient < Self.coefficientLimit, high >> 61 & 3 != 3 else { return (0, 0) }
        guard coefficient != 0 else { return (0, 0) }
        while true {
            let (quotient, digit) = coefficient.quotientAndRemainder(dividingBy: 10)
            guard digit == 0 else { return (coefficient, exponent) }
            coefficient = quotient
            exponent += 1
        }
    }

    /// 10^34.
    private static let coefficientLimit: UInt128 = 10_000_000_000_000_000_000_000_000_000_000_000
}
