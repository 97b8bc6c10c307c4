import Testing

@testable import Scheduling

@Suite("When to sync around midnight and changes of the clocks, as stories")
struct ClockChangeTests {
    /// The Saturday before clocks go from 02:00 to 03:00.
    private static let spring = CalendarDay(year: 2027, month: 3, day: 27)
    /// The Saturday before clocks go from 03:00 back to 02:00.
    private static let autumn = CalendarDay(year: 2026, month: 10, day: 24)

    private func timeline(
        _ mode: SchedulePolicy.Mode = .continuous,
        windows: [String] = [],
        from day: CalendarDay
    ) throws -> Timeline {
        let windows = try windows.map { text throws(ScheduleTextError) in try WeeklyWindow(text) }
        return Timeline(
            SchedulePolicy(mode: mode, windows: windows, zone: try berlin()),
            from: day
        )
    }

    @Test("A night of 23 hours: skipped times open and close at the change")
    func spring() throws {
        var night = try timeline(windows: ["Sat 22:00-06:00"], from: Self.spring)
        try night.tell(
            """
            Sat 21:59 schedule-window
            Sat 22:00 run
            Sun 01:59 run
            Sun 03:00 run
            Sun 05:59 run
            Sun 06:00 schedule-window
            """
        )
        var skipped = try timeline(windows: ["Sun 02:30-04:00"], from: Self.spring)
        try skipped.tell("Sun 01:59 schedule-window\nSun 03:00 run\nSun 04:00 schedule-window")
        var closing = try timeline(windows: ["Sun 01:00-02:30"], from: Self.spring)
        try closing.tell("Sun 01:00 run\nSun 01:59 run\nSun 03:00 schedule-window")
        var never = try timeline(windows: ["Sun 02:10-02:50"], from: Self.spring)
        try never.tell("Sun 01:59 schedule-window\nSun 03:00 schedule-window")
    }

    @Test("A night of 25 hours: repeated times open once and close once")
    func autumn() throws {
        var night = try timeline(windows: ["Sat 22:00-06:00"], from: Self.autumn)
        try night.tell(
            """
            Sat 22:00 run
            Sun 02:30 run
            Sun 02:30* run
            Sun 05:59 run
            Sun 06:00 schedule-window
            """
        )
        var twice = try timeline(windows: ["Sun 02:15-02:45"], from: Self.autumn)
        try twice.tell(
            """
            Sun 02:15 run
            Sun 02:45 schedule-window
            Sun 02:15* schedule-window
            Sun 02:30* schedule-window
            """
        )
        var across = try timeline(windows: ["Sun 02:30-03:30"], from: Self.autumn)
        try across.tell(
            "Sun 02:29 schedule-window\nSun 02:30 run\nSun 02:00* run\nSun 03:30 schedule-window"
        )
    }

    @Test(
        "A refresh in a skipped hour is due at the change, and in a repeated one once"
    )
    func refreshes() throws {
        var skipped = try timeline(.refresh(CronExpression("30 2 * * *")), from: Self.spring)
        try skipped.tell(
            """
            Sat 02:30 refreshed!
            Sun 01:59 refresh-interval
            Sun 03:00 once refresh
            Sun 03:01 refreshed!
            Sun 23:59 refresh-interval
            Mon 02:29 refresh-interval
            Mon 02:30 once refresh
            """
        )
        var twice = try timeline(.refresh(CronExpression("30 2 * * *")), from: Self.autumn)
        try twice.tell(
            """
            Sat 02:30 refreshed!
            Sun 02:29 refresh-interval
            Sun 02:30 once refresh
            Sun 02:31 refreshed!
            Sun 02:30* refresh-interval
            Sun 12:00 refresh-interval
            Mon 02:30 once refresh
            """
        )
        var hourly = try timeline(.refresh(CronExpression("0 * * * *")), from: Self.autumn)
        try hourly.tell(
            """
            Sun 01:00 refreshed!
            Sun 02:00 once refresh
            Sun 02:01 refreshed!
            Sun 02:59 refresh-interval
            Sun 02:00* once refresh
            Sun 02:01* refreshed!
            Sun 03:00 once refresh
            """
        )
    }

    @Test("Midnight is the end of one day and the beginning of the next")
    func midnight() throws {
        var whole = try timeline(windows: ["Sat 00:00-24:00"], from: Self.autumn)
        try whole.tell("Sat 00:00 run\nSat 23:59 run\nSun 00:00 schedule-window")
        var across = try timeline(windows: ["Sat 23:30-00:30"], from: Self.autumn)
        try across.tell(
            "Sat 23:29 schedule-window\nSat 23:30 run\nSun 00:00 run\nSun 00:29 run\nSun 00:30 schedule-window"
        )
        var daily = try timeline(.refresh(CronExpression("@daily")), from: Self.autumn)
        try daily.tell(
            """
            Sat 12:00 refreshed!
            Sat 23:59 refresh-interval
            Sun 00:00 once refresh
            Sun 00:01 refreshed!
            Mon 00:00 once refresh
            """
        )
    }
}
