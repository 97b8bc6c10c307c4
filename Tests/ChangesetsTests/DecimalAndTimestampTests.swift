import Testing

@testable import Changesets

@Suite("Decimals and timestamps on the wire")
struct DecimalAndTimestampTests {
    /// One Update of `T[1].f` that carries the payload, or nil if the bytes do not parse.
    private func payload(_ hexadecimal: String) throws -> Payload? {
        let text = hexadecimal.filter { $0 != " " }
        let bytes = try #require(
            Hexadecimal.bytes(
                of: "3f0001543f01016604000101 0100".filter { $0 != " " } + text + "00"
            )
        )
        let changeset = try Changeset(decoding: bytes)
        guard case .update(let update) = changeset.instructions.first else { return nil }
        #expect(changeset.encoded() == bytes)
        return update.payload
    }

    /// The table of the changesets spec, 2.6.
    @Test(
        "A decimal keeps its bits, never normalised",
        arguments: [
            ("08 b9 e0 00 42 00", 0x303a_0000_0000_0000, 12_345),
            ("08 00 00 01", 0xb040_0000_0000_0000, 0),
            ("08 00 e0 c7 00 00", 0x7800_0000_0000_0000, 0),
            ("08 00 e0 cb 00 01", 0xfc00_0000_0000_0000, 0),
            (
                "08 ff ff ff ff bf cc e3 c6 b7 80 9f ec ea b7 c2 f6 01 df 2f 00",
                0x5fff_ed09_bead_87c0, 0x378d_8e63_ffff_ffff
            ),
            ("08 0a 40 00", 0x303e_0000_0000_0000, 10),
            ("08 e4 00 41 00", 0x303c_0000_0000_0000, 100),
        ] as [(String, UInt64, UInt64)]
    )
    func decimals(hexadecimal: String, high: UInt64, low: UInt64) throws {
        #expect(try payload(hexadecimal) == .decimal(Decimal128(high: high, low: low)))
    }

    @Test("A decimal whose parts do not fit 128 bits is refused")
    func impossibleDecimals() {
        // An exponent of 10208 has 15 bits once it is biased.
        #expect(throws: DecodeError.self) { try payload("08 00 e0 cf 00 00") }
        #expect(throws: DecodeError.self) { try payload("08 00 df e0 40 00") }
        let coefficient = String(repeating: "ff", count: 16) + "7f"
        #expect(throws: DecodeError.self) { try payload("08" + coefficient + "0000") }
    }

    @Test(
        "Both parts of a timestamp have one sign",
        arguments: [
            ("05 01 f4 03", 1, 500), ("05 44 ff c9 b5 ee 41", -5, -500_000_000),
            ("05 00 ff c9 b5 ee 41", 0, -500_000_000), ("05 00 00", 0, 0),
        ] as [(String, Int64, Int64)]
    )
    func timestamps(hexadecimal: String, seconds: Int64, nanoseconds: Int64) throws {
        let timestamp = try #require(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        #expect(try payload(hexadecimal) == .timestamp(timestamp))
    }

    @Test(
        "Opposite signs, and a billion nanoseconds, are refused",
        arguments: ["05 05 45", "05 44 05", "05 00 80 a8 d6 b9 07", "05 00 ff a7 d6 b9 47"]
    )
    func impossibleTimestamps(hexadecimal: String) {
        #expect(throws: DecodeError.self) { try payload(hexadecimal) }
    }
}
