import Testing

@testable import Scheduling

@Suite("Windows of the week")
struct WindowTests {
    @Test(
        "Valid windows",
        arguments: [
            ("Mon-Fri 22:00-06:00", "mon tue wed thu fri", 1_320, 1_800),
            ("Sat,Sun 00:00-24:00", "sun sat", 0, 1_440),
            ("fri-mon 8:00-9:30", "sun mon fri sat", 480, 570),
            ("Wednesday 23:59-00:00", "wed", 1_439, 1_440),
            ("12:00-13:00", "sun mon tue wed thu fri sat", 720, 780),
        ]
    )
    func texts(text: String, days: String, start: Int, end: Int) throws {
        let window = try WeeklyWindow(text)
        let shown = Weekday.allCases.filter(window.days.contains)
            .map { "\($0)".prefix(3) }.joined(separator: " ")
        #expect(shown == days)
        #expect(window.start == start)
        #expect(window.end == end)
    }

    @Test(
        "Invalid texts",
        arguments: [
            ("", "is not a window"), ("Mon", "Mon is not a span of hours"),
            ("Mon 22:00", "22:00 is not a span of hours"),
            ("Mon 25:00-26:00", "25:00-26:00 is not a span of hours"),
            ("Mon 24:00-06:00", "24:00-06:00 is not a span of hours"),
            ("Mon 10:60-11:00", "10:60-11:00 is not a span of hours"),
            ("Mon 8:0-9:0", "8:0-9:0 is not a span of hours"),
            ("Mon 08:00-08:00", "ends when it begins"),
            ("Mo 08:00-09:00", "Mo is not a day of the week"),
            ("Mon-Tue-Wed 08:00-09:00", "Mon-Tue-Wed is not a day of the week"),
            ("Mon, Tue 08:00-09:00", "is not a window"),
            ("Mon,,Tue 08:00-09:00", " is not a day of the week"),
        ]
    )
    func mistakes(text: String, problem: String) {
        do {
            _ = try WeeklyWindow(text)
            Issue.record("\(text) is read")
        } catch {
            #expect(error.problem == problem)
        }
    }

    @Test(
        "Openings around a change of the clocks",
        arguments: [
            // Forward on 2026-03-29 at 02:00, back on 2026-10-25 at 03:00.
            ("02:15-02:45", "2026-03-29T00:00Z", "2026-03-30T00:15Z"),
            ("01:30-02:30", "2026-03-29T00:00Z", "2026-03-29T00:30Z until 2026-03-29T01:00Z"),
            ("02:30-04:00", "2026-03-29T00:00Z", "2026-03-29T01:00Z until 2026-03-29T02:00Z"),
            ("02:15-02:45", "2026-10-25T00:00Z", "2026-10-25T00:15Z until 2026-10-25T00:45Z"),
            ("02:30-04:00", "2026-10-25T00:00Z", "2026-10-25T00:30Z until 2026-10-25T03:00Z"),
            ("Sun 00:00-24:00", "2026-10-24T12:00Z", "2026-10-24T22:00Z until 2026-10-25T23:00Z"),
        ]
    )
    func clockChanges(window: String, from: String, expected: String) throws {
        let zone = try berlin()
        let windows = [try WeeklyWindow(window)]
        let opens = try #require(windows.nextAllowed(after: instant(from), zone))
        let closes = try #require(windows.opening(at: opens, zone)?.upperBound)
        let shown = "\(shown(opens)) until \(shown(closes))"
        #expect(shown.hasPrefix(expected), "\(shown)")
    }

    @Test("Adjacent windows are one opening after the other; overlapping ones are one")
    func several() throws {
        let windows = try ["Fri 22:00-02:00", "Sat 01:00-06:00", "Sat 06:00-07:00"]
            .map { text throws(ScheduleTextError) in try WeeklyWindow(text) }
        let friday = instant("2026-11-20T23:00Z")
        #expect(shown(windows.opening(at: friday, .utc)?.upperBound) == "2026-11-21T02:00Z")
        let night = instant("2026-11-21T01:30Z")
        #expect(shown(windows.opening(at: night, .utc)?.lowerBound) == "2026-11-20T22:00Z")
        #expect(shown(windows.opening(at: night, .utc)?.upperBound) == "2026-11-21T06:00Z")
        #expect(windows.opening(at: instant("2026-11-21T07:00Z"), .utc) == nil)
        #expect(
            shown(windows.nextAllowed(after: instant("2026-11-21T07:00Z"), .utc))
                == "2026-11-27T22:00Z"
        )
    }
}
