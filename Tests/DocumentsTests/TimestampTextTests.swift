import Changesets
import TestSupport
import Testing

@testable import Documents

@Suite("Timestamps as text")
struct TimestampTextTests {
    private func parse(_ text: String) -> Timestamp? {
        TimestampText.parse(Array(text.utf8)[...])
    }

    private func print(_ timestamp: Timestamp) -> String {
        String(decoding: TimestampText.print(timestamp), as: UTF8.self)
    }

    @Test(
        "The written form has nine digits inside the years 0 to 9999, wire numbers outside",
        arguments: [
            (0, 0, "1970-01-01T00:00:00.000000000Z"),
            (1, 500, "1970-01-01T00:00:01.000000500Z"),
            (0, -500_000_000, "1969-12-31T23:59:59.500000000Z"),
            (-5, -500_000_000, "1969-12-31T23:59:54.500000000Z"),
            (-5, 0, "1969-12-31T23:59:55.000000000Z"),
            (1_772_600_767, 0, "2026-03-04T05:06:07.000000000Z"),
            (253_402_300_799, 999_999_999, "9999-12-31T23:59:59.999999999Z"),
            (253_402_300_800, 0, "@253402300800.0"),
            (-62_167_219_200, 0, "0000-01-01T00:00:00.000000000Z"),
            (-62_167_219_199, -1, "0000-01-01T00:00:00.999999999Z"),
            (-62_167_219_200, -1, "@-62167219200.-1"),
            (Int64.max, 999_999_999, "@9223372036854775807.999999999"),
            (Int64.min, -999_999_999, "@-9223372036854775808.-999999999"),
        ] as [(Int64, Int64, String)]
    )
    func writtenForm(seconds: Int64, nanoseconds: Int64, text: String) throws {
        let timestamp = try #require(Timestamp(seconds: seconds, nanoseconds: nanoseconds))
        #expect(print(timestamp) == text)
        #expect(parse(text) == timestamp)
    }

    @Test(
        "Texts that julianday() accepts are read like it",
        arguments: [
            ("2026-03-04", "2026-03-04T00:00:00.000000000Z"),
            ("2026-03-04T", "2026-03-04T00:00:00.000000000Z"),
            ("2026-03-04 ", "2026-03-04T00:00:00.000000000Z"),
            ("2026-03-04 05:06", "2026-03-04T05:06:00.000000000Z"),
            ("2026-03-04 T 05:06", "2026-03-04T05:06:00.000000000Z"),
            ("2026-03-04  \t05:06:07", "2026-03-04T05:06:07.000000000Z"),
            ("2026-03-0405:06:07", "2026-03-04T05:06:07.000000000Z"),
            ("2026-02-31", "2026-03-03T00:00:00.000000000Z"),
            ("2026-03-04 24:00", "2026-03-05T00:00:00.000000000Z"),
            ("2026-03-04 24:59:59.5", "2026-03-05T00:59:59.500000000Z"),
            ("2026-03-04 05:06:07.123456789012345", "2026-03-04T05:06:07.123456789Z"),
            ("2026-03-04T05:06:07.5Z", "2026-03-04T05:06:07.500000000Z"),
            ("2026-03-04 05:06 Z", "2026-03-04T05:06:00.000000000Z"),
            ("2026-03-04 05:06:07 z ", "2026-03-04T05:06:07.000000000Z"),
            ("2026-03-04 05:06 +14:59", "2026-03-03T14:07:00.000000000Z"),
            ("2026-03-04 05:06 -05:30 ", "2026-03-04T10:36:00.000000000Z"),
            ("2026-03-04T05:06:07+01:00\n", "2026-03-04T04:06:07.000000000Z"),
            ("1969-12-31 23:59:59.25", "1969-12-31T23:59:59.250000000Z"),
            ("0000-01-01 00:00+14:00", "@-62167269600.0"),
            ("@0.0", "1970-01-01T00:00:00.000000000Z"),
            ("@0.-1", "1969-12-31T23:59:59.999999999Z"),
        ]
    )
    func acceptedForms(text: String, canonical: String) throws {
        let timestamp = try #require(parse(text))
        #expect(print(timestamp) == canonical)
    }

    @Test(
        "Texts that julianday() refuses are refused",
        arguments: [
            "", "tomorrow", "now", "2461103.5", "05:06:07", " 2026-03-04", "-001-01-01",
            "2026-3-4", "2026-03", "2026-02-32", "2026-13-01", "2026-00-01", "2026-01-00",
            "2026-03-04Z", "2026-03-04 Z", "2026-03-04 +01:00", "2026-03-04t05:06",
            "2026-03-04 05", "2026-03-04 5:06", "2026-03-04 05:06:7", "2026-03-04 25:00",
            "2026-03-04 05:60", "2026-03-04 05:06:60", "2026-03-04 05:06.5",
            "2026-03-04 05:06:07.", "2026-03-04 05:06+15:00", "2026-03-04 05:06+01:60",
            "2026-03-04T05:06:07ZZ", "2026-03-04 05:06:07+0100", "2026-03-04\u{a0}",
        ]
    )
    func refusedForms(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("A text that SQLite would cut at U+0000 is refused")
    func embeddedNull() {
        #expect(parse("2026-03-04\0") == nil)
        #expect(parse("2026-03-04\0 05:06") == nil)
    }

    @Test(
        "Wire numbers must be whole, in range and of one sign",
        arguments: [
            "@", "@5", "@5.", "@.5", "@+5.0", "@5.5.5", "@1.-1", "@-1.1", "@1.1000000000",
            "@9223372036854775808.0", "@-9223372036854775809.0", "@5.0 ", "@ 5.0", "@1e3.0",
        ]
    )
    func refusedWireNumbers(text: String) {
        #expect(parse(text) == nil)
    }

    @Test("Random instants survive, and inside the years 0 to 9999 text order is time order")
    func randomRoundTrip() throws {
        var random = SplitMix64(seed: 1)
        var written: [(Timestamp, String)] = []
        for round in 0..<2_000 {
            let seconds =
                round % 4 == 0
                ? Int64(bitPattern: random.next())
                : Int64.random(in: -62_167_219_199...253_402_300_799, using: &random)
            let fraction = Int64.random(in: 0...999_999_999, using: &random)
            let timestamp = try #require(
                Timestamp(seconds: seconds, nanoseconds: seconds < 0 ? -fraction : fraction)
            )
            let text = print(timestamp)
            #expect(parse(text) == timestamp, "\(text)")
            if !text.hasPrefix("@") { written.append((timestamp, text)) }
        }
        #expect(written.sorted { $0.0 < $1.0 }.map(\.1) == written.map(\.1).sorted())
    }
}
