/// Arithmetic of IEEE 754 decimals with 34 digits, ties to even.
extension DecimalNumber {
    static func + (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        if left.kind != .finite || right.kind != .finite {
            if left.kind == .notANumber { return left }
            if right.kind == .notANumber { return right }
            guard left.kind == right.kind else { return left.kind == .infinite ? left : right }
            return left.isNegative == right.isNegative ? left : .notANumber
        }
        if left.coefficient == 0 || right.coefficient == 0 {
            return addingZero(left, right)
        }
        // The larger one is scaled down to the other's exponent, as far as 37 digits allow.
        let leftIsLarger = left.digitCount + left.exponent >= right.digitCount + right.exponent
        let (large, small) = leftIsLarger ? (left, right) : (right, left)
        let shift = min(max(large.exponent - small.exponent, 0), 37 - large.digitCount)
        let largeCoefficient = large.coefficient * powers[shift]
        let exponent = large.exponent - shift
        var smallCoefficient = small.coefficient
        var isInexact = false
        if small.exponent > exponent {
            smallCoefficient *= powers[small.exponent - exponent]
        } else if exponent - small.exponent > 38 {
            smallCoefficient = 0
            isInexact = true
        } else {
            let power = powers[exponent - small.exponent]
            isInexact = smallCoefficient % power > 0
            smallCoefficient /= power
        }
        if large.isNegative == small.isNegative {
            return DecimalNumber(
                rounding: largeCoefficient + smallCoefficient,
                exponent: exponent,
                isNegative: large.isNegative,
                isInexact: isInexact
            )
        }
        let borrow: UInt128 = isInexact ? 1 : 0
        let isReversed = largeCoefficient < smallCoefficient + borrow
        let difference =
            isReversed
            ? smallCoefficient - largeCoefficient
            : largeCoefficient - smallCoefficient - borrow
        return DecimalNumber(
            rounding: difference,
            exponent: exponent,
            isNegative: difference == 0 && !isInexact
                ? false : isReversed ? small.isNegative : large.isNegative,
            isInexact: isInexact
        )
    }

    private static func addingZero(_ left: DecimalNumber, _ right: DecimalNumber) -> DecimalNumber {
        let exponent = min(left.exponent, right.exponent)
        let isLeftZero = left.coefficient == 0
        if isLeftZero, right.coefficient == 0 {
            return DecimalNumber(
                rounding: 0,
                exponent: exponent,
                isNegative: left.isNegative && right.isNegative
            )
        }
        let number = isLeftZero ? right : left
        let shift = min(number.exponent - exponent, 34 - number.digitCount)
        return DecimalNumber(
            rounding: number.coefficient * powers[shift],
            exponent: number.exponent - shift,
            isNegative: number.isNegative
        )
    }

    static func - (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        right.kind == .notANumber ? left + right : left + right.negated
    }

    static func * (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        let isNegative = left.isNegative != right.isNegative
        if left.kind == .notANumber { return left }
        if right.kind == .notANumber { return right }
        if left.kind == .infinite || right.kind == .infinite {
            return left.isZero || right.isZero ? .notANumber : .infinity(isNegative: isNegative)
        }
        let exponent = left.exponent + right.exponent
        let product = left.coefficient.multipliedFullWidth(by: right.coefficient)
        let excess = max(left.digitCount + right.digitCount - 36, 0)
        let power = powers[min(excess, 38)]
        let (quotient, remainder) = power.dividingFullWidth(product)
        return DecimalNumber(
            rounding: quotient,
            exponent: exponent + excess,
            isNegative: isNegative,
            isInexact: remainder > 0
        )
    }

    static func / (left: DecimalNumber, right: DecimalNumber) -> DecimalNumber {
        let isNegative = left.isNegative != right.isNegative
        if left.kind == .notANumber { return left }
        if right.kind == .notANumber { return right }
        if left.kind == .infinite {
            return right.kind == .infinite ? .notANumber : .infinity(isNegative: isNegative)
        }
        if right.kind == .infinite {
            return DecimalNumber(
                rounding: 0,
                exponent: exponents.lowerBound,
                isNegative: isNegative
            )
        }
        if right.isZero {
            return left.isZero ? .notANumber : .infinity(isNegative: isNegative)
        }
        let preferred = left.exponent - right.exponent
        if left.isZero {
            return DecimalNumber(rounding: 0, exponent: preferred, isNegative: isNegative)
        }
        // 34 digits divided by the divisor, scaled so that the quotient has 35 or 36.
        let widening = 34 - left.digitCount
        let shift = right.digitCount + 1
        let dividend = (left.coefficient * powers[widening]).multipliedFullWidth(by: powers[shift])
        var (quotient, remainder) = right.coefficient.dividingFullWidth(dividend)
        var exponent = preferred - widening - shift
        while remainder == 0, exponent < preferred, quotient % 10 == 0 {
            quotient /= 10
            exponent += 1
        }
        return DecimalNumber(
            rounding: quotient,
            exponent: exponent,
            isNegative: isNegative,
            isInexact: remainder > 0
        )
    }

    private var isZero: Bool { kind == .finite && coefficient == 0 }
}
