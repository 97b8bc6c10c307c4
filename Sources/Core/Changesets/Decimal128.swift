/// A decimal floating point number as its IEEE 754-2008 bits in binary integer (BID) encoding
/// (changesets spec, 2.6).
///
/// Equality compares bits: 1.0 and 1.00 are different encodings of one number, and both are kept.
package struct Decimal128: Hashable, Sendable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Joins the three parts of the wire format.
    ///
    /// Nil if the coefficient has more than 113 bits or the exponent does not fit its 14 bits.
    package init?(
        coefficientHigh: UInt64,
        coefficientLow: UInt64,
        exponent: Int32,
        isNegative: Bool
    ) {
        let biased = Int64(exponent) + Self.bias
        guard coefficientHigh >> 49 == 0, (0..<1 << 14).contains(biased) else { return nil }
        self.high = coefficientHigh | (isNegative ? 1 << 63 : 0) | UInt64(biased) << 49
        self.low = coefficientLow
    }

    package var isNegative: Bool { high >> 63 == 1 }

    /// The exponent of ten; infinities and NaN have the out-of-range values 9184 and up.
    package var exponent: Int32 { Int32(Int64(high >> 49 & 0x3fff) - Self.bias) }

    /// The upper 49 of the coefficient's 113 bits; the lower 64 are `low`.
    package var coefficientHigh: UInt64 { high & (1 << 49 - 1) }

    package var coefficientLow: UInt64 { low }

    package var isInfinite: Bool { high >> 58 & 0x1f == 0x1e }
    package var isNaN: Bool { high >> 58 & 0x1f == 0x1f }

    /// Positive zero with exponent 0: the default of a required property.
    package static let zero = Decimal128(high: 6176 << 49, low: 0)

    /// The reference's in-memory null; as a received value it means null (changesets spec, 2.6).
    package static let referenceNull = Decimal128(high: 0x7c00_0000_0000_0000, low: 0xaa)

    private static let bias: Int64 = 6176
}
