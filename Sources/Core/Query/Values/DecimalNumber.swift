package import Changesets
import Documents

/// A decimal floating-point number in parts, for comparison and arithmetic.
package struct DecimalNumber: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case finite, infinite, notANumber
    }

    let kind: Kind
    let isNegative: Bool
    /// At most 34 digits; 0 unless finite.
    let coefficient: UInt128
    /// The power of ten of the coefficient's last digit: -6176 ... 6111.
    let exponent: Int

    private init(_ kind: Kind, isNegative: Bool, coefficient: UInt128 = 0, exponent: Int = 0) {
        self.kind = kind
        self.isNegative = isNegative
        self.coefficient = coefficient
        self.exponent = exponent
    }

    static let notANumber = DecimalNumber(.notANumber, isNegative: false)
    static let negativeNotANumber = DecimalNumber(.notANumber, isNegative: true)

    var negated: DecimalNumber {
        DecimalNumber(
            kind,
            isNegative: !isNegative,
            coefficient: coefficient,
            exponent: exponent
        )
    }

    static func infinity(isNegative: Bool) -> DecimalNumber {
        DecimalNumber(.infinite, isNegative: isNegative)
    }

    package init(_ value: Decimal128) {
        if value.isNaN {
            self.init(.notANumber, isNegative: value.isNegative)
        } else if value.isInfinite {
            self.init(.infinite, isNegative: value.isNegative)
        } else {
            // IEEE 754 reads a coefficient above its range as zero.
            self.init(
                .finite,
                isNegative: value.isNegative,
                coefficient: value.canonicalCoefficient ?? 0,
                exponent: Int(value.exponent)
            )
        }
    }

    init(_ value: Int64) {
        self.init(
            .finite,
            isNegative: value < 0,
            coefficient: UInt128(value.magnitude),
            exponent: 0
        )
    }

    /// With 15 significant digits (query as recorded, 38).
    init(_ value: Double) {
        self.init(value, digits: 15)
    }

    /// With 7 significant digits.
    init(_ value: Float) {
        self.init(Double(value), digits: 7)
    }

    private init(_ value: Double, digits: Int) {
        let isNegative = value.sign == .minus
        if value.isNaN {
            self.init(.notANumber, isNegative: isNegative)
        } else if value.isInfinite {
            self.init(.infinite, isNegative: isNegative)
        } else if value == 0 {
            self.init(.finite, isNegative: isNegative)
        } else {
            let decimal = DecimalDigits(value.magnitude, precision: digits)
            var kept = decimal.digits
            while kept.count > 1, kept.last == 0 { kept.removeLast() }
            self.init(
                .finite,
                isNegative: isNegative,
                coefficient: kept.reduce(0) { $0 * 10 + UInt128($1) },
                exponent: decimal.exponent - kept.count + 1
            )
        }
    }

    /// Rounds to 34 digits, ties to even, and to the range of exponents.
    ///
    /// - Parameter isInexact: whether the exact number is slightly larger.
    init(
        rounding coefficient: UInt128,
        exponent: Int,
        isNegative: Bool,
        isInexact: Bool = false
    ) {
        var (coefficient, exponent, isInexact) = (coefficient, exponent, isInexact)
        let excess = max(
            Self.digitCount(coefficient) - 34,
            Self.exponents.lowerBound - exponent,
            0
        )
        if excess > 38 {
            coefficient = 0
            exponent = Self.exponents.lowerBound
        } else if excess > 0 {
            let power = Self.powers[excess]
            let (quotient, remainder) = coefficient.quotientAndRemainder(dividingBy: power)
            let half = power / 2
            isInexact = isInexact && remainder == half || remainder > half
            coefficient = quotient
            exponent += excess
            if isInexact || remainder == half && coefficient % 2 == 1 { coefficient += 1 }
            if coefficient == Self.tooLarge {
                coefficient /= 10
                exponent += 1
            }
        }
        while exponent > Self.exponents.upperBound, coefficient > 0,
            coefficient * 10 < Self.tooLarge
        {
            coefficient *= 10
            exponent -= 1
        }
        if exponent > Self.exponents.upperBound, coefficient > 0 {
            self.init(.infinite, isNegative: isNegative)
        } else {
            self.init(
                .finite,
                isNegative: isNegative,
                coefficient: coefficient,
                exponent: min(exponent, Self.exponents.upperBound)
            )
        }
    }

    static let exponents = -6176...6111
    /// 10^34.
    static let tooLarge: UInt128 = powers[34]
    /// 10^0 ... 10^38.
    static let powers: [UInt128] = (0..<38).reduce(into: [1]) { powers, _ in
        powers.append(powers[powers.count - 1] * 10)
    }

    static func digitCount(_ value: UInt128) -> Int {
        // 1233/4096 is the logarithm of 2 to base 10, a little less.
        let guess = ((UInt128.bitWidth - value.leadingZeroBitCount) * 1233) >> 12
        return guess < powers.count && value >= powers[guess] ? guess + 1 : guess
    }

    var digitCount: Int { Self.digitCount(coefficient) }
}

// MARK: Order

extension DecimalNumber {
    /// NaN equals a NaN of its sign and is smaller than every other number.
    func order(to other: DecimalNumber) -> QueryOrder {
        if kind == .notANumber || other.kind == .notANumber {
            guard kind == other.kind else { return kind == .notANumber ? .less : .greater }
            return QueryOrder(isNegative ? 1 : 0, other.isNegative ? 1 : 0)
        }
        guard sign == other.sign else { return QueryOrder(sign, other.sign) }
        guard sign != 0 else { return .equal }
        let order = magnitudeOrder(to: other)
        return sign > 0 ? order : order.reversed
    }

    private var sign: Int {
        if kind == .finite, coefficient == 0 { return 0 }
        return isNegative ? -1 : 1
    }

    private func magnitudeOrder(to other: DecimalNumber) -> QueryOrder {
        if kind == .infinite || other.kind == .infinite {
            return QueryOrder(kind == .infinite ? 1 : 0, other.kind == .infinite ? 1 : 0)
        }
        let (digits, otherDigits) = (digitCount, other.digitCount)
        guard digits + exponent == otherDigits + other.exponent else {
            return QueryOrder(digits + exponent, otherDigits + other.exponent)
        }
        // Of equal magnitude, so neither needs more than 34 digits for the exponent of the other.
        return QueryOrder(
            coefficient * Self.powers[max(0, otherDigits - digits)],
            other.coefficient * Self.powers[max(0, digits - otherDigits)]
        )
    }
}
