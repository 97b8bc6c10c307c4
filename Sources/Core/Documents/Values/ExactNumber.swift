import Changesets

/// A number of any type, to be compared with numbers of any other without rounding either
/// (instruction semantics, 1.7).
///
/// Rounding would not do: 0.1 as a decimal lies between two doubles, and a set needs a transitive
/// equality.
struct ExactNumber {
    private enum Magnitude {
        /// NaN comes before all other numbers, ordered by type and bits so that it is equal only to
        /// itself.
        case notANumber(type: Int, bits: UInt128)
        case infinite
        /// `coefficient * 2^twos * 10^tens`.
        case finite(coefficient: UInt128, twos: Int, tens: Int)
    }

    private let magnitude: Magnitude
    private let isNegative: Bool

    init(_ value: Int64) {
        self.magnitude = .finite(coefficient: UInt128(value.magnitude), twos: 0, tens: 0)
        self.isNegative = value < 0
    }

    init(_ value: FloatBits) {
        self.init(
            Double(value.value),
            notANumber: .notANumber(type: 0, bits: UInt128(value.bitPattern))
        )
    }

    init(_ value: DoubleBits) {
        self.init(value.value, notANumber: .notANumber(type: 1, bits: UInt128(value.bitPattern)))
    }

    init(_ value: Decimal128) {
        self.isNegative = value.isNegative
        if value.isNaN {
            let bits = UInt128(value.high) << 64 | UInt128(value.low)
            self.magnitude = .notANumber(type: 2, bits: bits)
        } else if value.isInfinite {
            self.magnitude = .infinite
        } else {
            // IEEE 754 reads a coefficient above its range as zero.
            self.magnitude = .finite(
                coefficient: value.canonicalCoefficient ?? 0,
                twos: 0,
                tens: Int(value.exponent)
            )
        }
    }

    private init(_ value: Double, notANumber: Magnitude) {
        self.isNegative = value.sign == .minus
        if value.isNaN {
            self.magnitude = notANumber
        } else if value.isInfinite {
            self.magnitude = .infinite
        } else {
            let isNormal = value.exponentBitPattern > 0
            self.magnitude = .finite(
                coefficient: UInt128(value.significandBitPattern | (isNormal ? 1 << 52 : 0)),
                twos: Int(max(value.exponentBitPattern, 1)) - 1075,
                tens: 0
            )
        }
    }

    func order(to other: ExactNumber) -> Order {
        switch (magnitude, other.magnitude) {
        case (.notANumber(let type, let bits), .notANumber(let otherType, let otherBits)):
            return Order(type, otherType).then(Order(bits, otherBits))
        case (.notANumber, _): return .ascending
        case (_, .notANumber): return .descending
        default: break
        }
        guard sign == other.sign else { return Order(sign, other.sign) }
        guard sign != 0 else { return .same }
        return isNegative
            ? other.magnitudeOrder(to: self)
            : magnitudeOrder(to: other)
    }

    private var sign: Int {
        if case .finite(0, _, _) = magnitude { return 0 }
        return isNegative ? -1 : 1
    }

    private func magnitudeOrder(to other: ExactNumber) -> Order {
        switch (magnitude, other.magnitude) {
        case (.infinite, .infinite): return .same
        case (.infinite, _): return .descending
        case (_, .infinite): return .ascending
        case (
            .finite(let coefficient, let twos, let tens),
            .finite(let otherCoefficient, let otherTwos, let otherTens)
        ):
            if twos == otherTwos, tens == otherTens {
                return Order(coefficient, otherCoefficient)
            }
            // Far apart, the magnitudes alone decide; that also bounds the work below.
            let size = Self.binaryLogarithm(coefficient, twos, tens)
            let otherSize = Self.binaryLogarithm(otherCoefficient, otherTwos, otherTens)
            if abs(size - otherSize) > 2 { return Order(size, otherSize) }
            let left = BigNatural(
                coefficient,
                twos: max(twos - otherTwos, 0),
                tens: max(tens - otherTens, 0)
            )
            let right = BigNatural(
                otherCoefficient,
                twos: max(otherTwos - twos, 0),
                tens: max(otherTens - tens, 0)
            )
            return left.order(to: right)
        case (.notANumber, _), (_, .notANumber):
            return .same
        }
    }

    /// Exact to within one.
    private static func binaryLogarithm(_ coefficient: UInt128, _ twos: Int, _ tens: Int) -> Double
    {
        let bits = UInt128.bitWidth - coefficient.leadingZeroBitCount
        return Double(bits + twos) + Double(tens) * 3.321_928_094_887_362
    }
}
