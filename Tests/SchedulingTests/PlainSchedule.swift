import TestSupport

@testable import Scheduling

/// A schedule in its owner's terms, with the text for a configuration.
struct PlainSchedule: Sendable {
    struct Window: Sendable {
        let text: String
        /// 0 is Sunday.
        let days: Set<Int>
        /// Minutes of the day on which it opens; beyond 1440 they are of the next.
        let opens: Int
        let closes: Int
    }

    struct Calendar: Sendable {
        let text: String
        /// Whether it occurs in every hour that a clock shows, or at certain hours of the day.
        let isHourly: Bool
        /// 0 is Sunday.
        let comes:
            @Sendable (_ month: Int, _ day: Int, _ weekday: Int, _ hour: Int, _ minute: Int) -> Bool
    }

    var windows: [Window] = []
    /// Nil if it is always connected.
    var calendar: Calendar?
}

extension PlainSchedule {
    /// As the configuration would have it.
    func policy(in clock: WallClock, offlineLimit: Duration) throws -> SchedulePolicy {
        let rule = DaylightRule(posix: Array(clock.rule.utf8)[...])
        return SchedulePolicy(
            mode: try calendar.map { .refresh(try CronExpression($0.text)) } ?? .continuous,
            windows: try windows.map { window throws(ScheduleTextError) in
                try WeeklyWindow(window.text)
            },
            zone: TimeZoneRules(
                name: clock.place,
                initialOffset: clock.offset * 60,
                transitions: [],
                rule: rule
            ),
            pausesOn: Set(SchedulePolicy.PauseCondition.allCases),
            offlineLimit: offlineLimit
        )
    }

    /// One for each place, with a window or instant near its clock changes.
    static let written = [
        "Europe/Berlin": PlainSchedule(windows: [
            Window(
                text: "Mon-Fri 22:00-06:00",
                days: [1, 2, 3, 4, 5],
                opens: 1_320,
                closes: 1_800
            ),
            Window(text: "Sun 02:30-04:00", days: [0], opens: 150, closes: 240),
        ]),
        "America/New_York": PlainSchedule(
            windows: [
                Window(text: "01:30-02:30", days: everyDay, opens: 90, closes: 150),
                Window(text: "Sat,Sun 12:00-12:45", days: [0, 6], opens: 720, closes: 765),
            ],
            calendar: Calendar(text: "*/20 1-3,12 * * *", isHourly: false) {
                [1, 2, 3, 12].contains($3) && $4 % 20 == 0
            }
        ),
        "Australia/Lord_Howe": PlainSchedule(
            calendar: Calendar(text: "5,50 * * * Sun,Sat", isHourly: true) {
                ($2 == 0 || $2 == 6) && ($4 == 5 || $4 == 50)
            }
        ),
        "America/Santiago": PlainSchedule(
            windows: [
                Window(text: "Sat 23:30-00:30", days: [6], opens: 1_410, closes: 1_470),
                Window(
                    text: "Mon-Fri 00:00-24:00",
                    days: [1, 2, 3, 4, 5],
                    opens: 0,
                    closes: 1_440
                ),
            ],
            // Days of the month and of the week are alternatives.
            calendar: Calendar(text: "0 0 1,15 * Mon", isHourly: false) {
                ($1 == 1 || $1 == 15 || $2 == 1) && $3 == 0 && $4 == 0
            }
        ),
        "America/St_Johns": PlainSchedule(windows: [
            Window(text: "Sun 00:00-06:00", days: [0], opens: 0, closes: 360),
            Window(text: "Sat 22:00-23:30", days: [6], opens: 1_320, closes: 1_410),
            Window(text: "Tue 23:00-00:01", days: [2], opens: 1_380, closes: 1_441),
        ]),
    ]

    private static let everyDay: Set<Int> = [0, 1, 2, 3, 4, 5, 6]

    /// Any other possible one.
    static func random(using random: inout SplitMix64) -> PlainSchedule {
        let windows = (0..<Int.random(in: 0...3, using: &random)).map { _ in window(using: &random)
        }
        guard Bool.random(using: &random) else { return PlainSchedule(windows: windows) }
        let minute = Int.random(in: 0...59, using: &random)
        if Bool.random(using: &random) {
            let calendar = Calendar(text: "\(minute) * * * *", isHourly: true) { $4 == minute }
            return PlainSchedule(windows: windows, calendar: calendar)
        }
        let hour = Int.random(in: 0...23, using: &random)
        let calendar = Calendar(text: "\(minute) \(hour) * * *", isHourly: false) {
            $3 == hour && $4 == minute
        }
        return PlainSchedule(windows: windows, calendar: calendar)
    }

    private static func window(using random: inout SplitMix64) -> Window {
        let names = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let days = everyDay.filter { _ in Bool.random(using: &random) }
        let opens = Int.random(in: 0..<1_440, using: &random)
        let closes = opens + Int.random(in: 1...1_439, using: &random)
        func time(_ minute: Int) -> String {
            let (hour, rest) = (minute / 60, minute % 60)
            return "\(hour < 10 ? "0" : "")\(hour):\(rest < 10 ? "0" : "")\(rest)"
        }
        let listed = days.isEmpty ? everyDay : days
        let text = listed.sorted().map { names[$0] }.joined(separator: ",")
        return Window(
            text: "\(text) \(time(opens))-\(time(closes % 1_440))",
            days: listed,
            opens: opens,
            closes: closes
        )
    }
}
