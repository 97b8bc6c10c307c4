import Changesets
import TestSupport
import Testing

@testable import Documents

@Suite("Decimals as text")
struct DecimalTextTests {
    private func parse(_ text: String) throws(FormError) -> Decimal128 {
        try DecimalText.parse(Array(text.utf8)[...])
    }

    private func print(_ decimal: Decimal128) -> String {
        String(decoding: DecimalText.print(decimal), as: UTF8.self)
    }

    private func decimal(
        _ coefficient: UInt128,
        _ exponent: Int32,
        isNegative: Bool = false
    ) throws -> Decimal128 {
        try #require(
            Decimal128(
                coefficientHigh: UInt64(coefficient >> 64),
                coefficientLow: UInt64(truncatingIfNeeded: coefficient),
                exponent: exponent,
                isNegative: isNegative
            )
        )
    }

    @Test(
        "Every digit of the coefficient is written, which shows the exponent",
        arguments: [
            (0, 0, "0"), (1, 0, "1"), (10, -1, "1.0"), (100, -2, "1.00"), (12_345, -3, "12.345"),
            (1, -1, "0.1"), (15, -3, "0.015"), (1, -6, "0.000001"), (1, -7, "1E-7"),
            (12, -8, "1.2E-7"), (1, 2, "1E+2"), (10, 1, "1.0E+2"), (0, 5, "0E+5"), (0, -2, "0.00"),
            (0, -6176, "0E-6176"), (0, 6111, "0E+6111"), (1, -6176, "1E-6176"),
            (100_000_000_000_000_000, 0, "100000000000000000"),
            (
                9_999_999_999_999_999_999_999_999_999_999_999, 6111,
                "9.999999999999999999999999999999999E+6144"
            ),
            (
                1_234_567_890_123_456_789_012_345_678_901_234, -33,
                "1.234567890123456789012345678901234"
            ),
        ] as [(UInt128, Int32, String)]
    )
    func numbers(coefficient: UInt128, exponent: Int32, text: String) throws {
        let positive = try decimal(coefficient, exponent)
        #expect(print(positive) == text)
        #expect(try parse(text) == positive)
        let negative = try decimal(coefficient, exponent, isNegative: true)
        #expect(print(negative) == "-" + text)
        #expect(try parse("-" + text) == negative)
    }

    @Test(
        "Infinities and NaN have names, and other NaNs their bits",
        arguments: [
            (0x7800_0000_0000_0000, 0, "Infinity"), (0xf800_0000_0000_0000, 0, "-Infinity"),
            (0x7c00_0000_0000_0000, 0, "NaN"), (0xfc00_0000_0000_0000, 0, "-NaN"),
            (0x7c00_0000_0000_0000, 0xaa, "#7c0000000000000000000000000000aa"),
            (0x7e00_0000_0000_0000, 0, "#7e000000000000000000000000000000"),
            (0x7800_0000_0000_0000, 1, "#78000000000000000000000000000001"),
            // Ten to the 34th: one more than the largest coefficient.
            (0x3041_ed09_bead_87c0, 0x378d_8e64_0000_0000, "#3041ed09bead87c0378d8e6400000000"),
            // The encoding with an implied leading bit is never canonical here.
            (0x6000_0000_0000_0000, 1, "#60000000000000000000000000000001"),
        ] as [(UInt64, UInt64, String)]
    )
    func otherEncodings(high: UInt64, low: UInt64, text: String) throws {
        let decimal = Decimal128(high: high, low: low)
        #expect(print(decimal) == text)
        #expect(try parse(text) == decimal)
    }

    @Test(
        "Other spellings are read",
        arguments: [
            ("+1", "1"), ("01.50", "1.50"), ("1.", "1"), (".5", "0.5"), ("1e2", "1E+2"),
            ("1E2", "1E+2"), ("1E-02", "0.01"), ("inf", "Infinity"), ("-INFINITY", "-Infinity"),
            ("nan", "NaN"), ("+NaN", "NaN"), ("0E9999", "0E+6111"), ("-0E-9999", "-0E-6176"),
            ("1E6144", "1.000000000000000000000000000000000E+6144"), ("10E-6177", "1E-6176"),
            ("#7C000000000000000000000000000000", "NaN"),
        ]
    )
    func acceptedForms(text: String, canonical: String) throws {
        #expect(print(try parse(text)) == canonical)
    }

    @Test(
        "Text that is not a decimal is refused",
        arguments: [
            "", "-", "+", ".", "-.", "E5", "1E", "1E+", "1.2.3", "1,5", " 1", "1 ", "0x10", "--1",
            "+-1", "NaN1", "Infinit", "#", "#12", "#7c00000000000000000000000000000g", "1\0",
            "-#7c000000000000000000000000000000",
        ]
    )
    func refusedForms(text: String) {
        #expect(throws: FormError(.expected(.decimal))) { try parse(text) }
    }

    @Test("More than 34 digits are refused, leading zeros not counted")
    func precision() throws {
        let nines = String(repeating: "9", count: 34)
        #expect(print(try parse("000" + nines)) == nines)
        #expect(print(try parse("0.000" + nines)) == "0.000" + nines)
        for text in [nines + "0", nines + ".0", "0.00" + nines + "1"] {
            #expect(throws: FormError(.decimalTooPrecise)) { try parse(text) }
        }
    }

    @Test(
        "A number outside the exponent range is refused",
        arguments: ["1E6145", "11E6144", "1E-6177", "15E-6177", "1E99999999999999999999"]
    )
    func range(text: String) {
        #expect(throws: FormError(.decimalOutOfRange)) { try parse(text) }
    }

    @Test("Every encoding survives its text")
    func randomRoundTrip() throws {
        var random = SplitMix64(seed: 2)
        for round in 0..<4_000 {
            let decimal: Decimal128
            if round % 2 == 0 {
                decimal = Decimal128(high: random.next(), low: random.next())
            } else {
                let shift = UInt128.random(in: 0...112, using: &random)
                let coefficient =
                    UInt128.random(in: 0...DecimalText.largestCoefficient, using: &random) >> shift
                decimal = try self.decimal(
                    coefficient,
                    Int32.random(in: -60...60, using: &random),
                    isNegative: Bool.random(using: &random)
                )
            }
            let text = print(decimal)
            #expect(try parse(text) == decimal, "\(text)")
        }
    }
}
