import Settings
import TestSupport
import Testing

@Suite("Durations, sizes and quotes as text")
struct TextFormTests {
    @Test(
        "Valid durations",
        arguments: [
            ("0s", 0), ("20ms", 20), ("1s500ms", 1_500), ("7d", 604_800_000),
            ("2d3h4m5s6ms", 183_845_006),
        ]
    )
    func durations(text: String, milliseconds: Int) {
        #expect(DurationText.parse(text) == .milliseconds(milliseconds))
        #expect(DurationText.text(of: .milliseconds(milliseconds)) == text)
    }

    @Test(
        "Invalid durations",
        arguments: [
            "", "s", "5", "5x", "-5s", "5 s", "1.5s", "5m1h", "5m5m", "5S", "٣s", "5s ",
            "9223372036854775807s", "106751991168d", "99999999999999999999ms",
        ]
    )
    func badDurations(text: String) {
        #expect(DurationText.parse(text) == nil)
    }

    @Test("Every whole number of milliseconds survives its text")
    func durationRoundTrip() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<500 {
            let milliseconds = Int64.random(
                in: 0...Int64.max >> Int.random(in: 0..<63, using: &random),
                using: &random
            )
            let duration = Duration.milliseconds(milliseconds)
            #expect(DurationText.parse(DurationText.text(of: duration)) == duration)
        }
    }

    @Test(
        "Valid sizes",
        arguments: [
            ("0B", 0), ("1B", 1), ("1000B", 1_000), ("64KiB", 65_536), ("10MiB", 10_485_760),
            ("3GiB", 3_221_225_472),
        ]
    )
    func sizes(text: String, bytes: Int) {
        #expect(SizeText.parse(text) == bytes)
        #expect(SizeText.text(ofBytes: bytes) == text)
    }

    @Test("Sizes in thousands, and with a blank")
    func decimalSizes() {
        #expect(SizeText.parse("5kB") == 5_000)
        #expect(SizeText.parse("5 MB") == 5_000_000)
    }

    @Test("Invalid sizes", arguments: ["", "KiB", "-1", "1.5MiB", "5mb", "9999999999GiB"])
    func badSizes(text: String) {
        #expect(SizeText.parse(text) == nil)
    }

    @Test(
        "Text from outside stays on one line, and cannot write to a terminal",
        arguments: [
            ("plain ä", "\"plain ä\""), ("a\"b\\c", "\"a\\\"b\\\\c\""),
            ("a\nb\tc", "\"a\\nb\\tc\""), ("\u{1b}[2J\u{202e}", "\"\\u{1b}[2J\\u{202e}\""),
            (
                String(repeating: "x", count: 61),
                "\"" + String(repeating: "x", count: 60) + "…\""
            ),
        ]
    )
    func quotes(text: String, shown: String) {
        #expect(quoted(text) == shown)
    }
}

@Suite("Suggestions")
struct SuggestionTests {
    private let keys = ["schedule", "schema", "user", "partition", "path", "enabled"]

    @Test(
        "A typing error gets a suggestion",
        arguments: [
            ("shedule", "schedule"), ("Schedule", "schedule"), ("scheam", "schema"),
            ("usr", "user"), ("partiton", "partition"), ("pth", "path"), ("enable", "enabled"),
        ]
    )
    func near(word: String, suggestion: String) {
        #expect(Suggestion.nearest(to: word, among: keys) == suggestion)
    }

    @Test(
        "Another word gets none",
        arguments: ["", "x", "password", "interval", String(repeating: "schedule", count: 20)]
    )
    func far(word: String) {
        #expect(Suggestion.nearest(to: word, among: keys) == nil)
    }
}
