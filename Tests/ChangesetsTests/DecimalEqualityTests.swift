import Changesets
import Testing

@Suite("Decimal equality")
struct DecimalEqualityTests {
    @Test("Trailing zeros do not matter")
    func trailingZeros() throws {
        #expect(try decimal(10, -1).isNumericallyEqual(to: decimal(1, 0)))
        #expect(try decimal(1, 2).isNumericallyEqual(to: decimal(100, 0)))
        #expect(try !decimal(1, 2).isNumericallyEqual(to: decimal(1, 1)))
        #expect(try !decimal(12, 0).isNumericallyEqual(to: decimal(21, 0)))
    }

    @Test("The sign matters, except for zero")
    func signs() throws {
        #expect(try !decimal(1, 0).isNumericallyEqual(to: decimal(1, 0, isNegative: true)))
        #expect(try decimal(0, 0).isNumericallyEqual(to: decimal(0, 5, isNegative: true)))
        #expect(try !decimal(0, 0).isNumericallyEqual(to: decimal(1, -6176)))
    }

    @Test("Infinities have a sign and nothing else")
    func infinities() {
        let plus = Decimal128(high: 0x7800_0000_0000_0000, low: 0)
        let alsoPlus = Decimal128(high: 0x7800_0000_0000_0000, low: 7)
        let minus = Decimal128(high: 0xf800_0000_0000_0000, low: 0)
        #expect(plus.isNumericallyEqual(to: alsoPlus))
        #expect(!plus.isNumericallyEqual(to: minus))
        #expect(!plus.isNumericallyEqual(to: .zero))
    }

    @Test("NaN equals itself bit by bit")
    func notANumber() {
        let one = Decimal128(high: 0x7c00_0000_0000_0000, low: 0)
        let other = Decimal128(high: 0x7c00_0000_0000_0000, low: 1)
        #expect(one.isNumericallyEqual(to: one))
        #expect(!one.isNumericallyEqual(to: other))
        #expect(!one.isNumericallyEqual(to: .zero))
    }

    @Test("A coefficient of more than 34 digits means zero")
    func nonCanonical() {
        let tooLarge = Decimal128(high: 6176 << 49 | (1 << 49 - 1), low: .max)
        #expect(tooLarge.isNumericallyEqual(to: .zero))
    }

    private func decimal(
        _ coefficient: UInt64,
        _ exponent: Int32,
        isNegative: Bool = false
    ) throws -> Decimal128 {
        try #require(
            Decimal128(
                coefficientHigh: 0,
                coefficientLow: coefficient,
                exponent: exponent,
                isNegative: isNegative
            )
        )
    }
}
