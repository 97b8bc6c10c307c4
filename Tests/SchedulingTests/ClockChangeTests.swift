import TestSupport
import Testing

@testable import Scheduling

@Suite("When to sync around midnight and changes of the clocks, told as stories")
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

    @Test("A night of 23 hours: what clocks skip opens and closes at their change")
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

    @Test("A night of 25 hours: what clocks show twice opens once and closes once")
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
        "A refresh in an hour that is skipped comes at the change, and in one that runs twice once"
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

    /// So many checks that the macro would take most of the time.
    private func check(_ holds: Bool, _ number: Int, _ now: Instant) {
        if !holds { Issue.record("schedule \(number), \(shown(now))") }
    }

    /// A schedule of any kind, as an owner might have written it.
    private static func policy(
        number: Int,
        using random: inout SplitMix64
    ) throws -> SchedulePolicy {
        func time(_ random: inout SplitMix64) -> String {
            let (hour, quarter) = (
                Int.random(in: 0...23, using: &random), Int.random(in: 0...3, using: &random)
            )
            return "\(hour < 10 ? "0" : "")\(hour):\(quarter == 0 ? "00" : "\(quarter * 15)")"
        }
        var windows: [WeeklyWindow] = []
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            let days =
                ["", "Mon-Fri ", "Sat,Sun ", "Sun ", "Tue-Thu "].randomElement(using: &random) ?? ""
            let (start, end) = (time(&random), time(&random))
            if start != end { windows.append(try WeeklyWindow("\(days)\(start)-\(end)")) }
        }
        let instants = [
            "*/15 * * * *", "30 2 * * *", "0 */6 * * *", "5 1-3 * * Sun", "0 12 * * Mon",
        ]
        let cron = try CronExpression(instants[number % instants.count])
        return SchedulePolicy(
            mode: !number.isMultiple(of: 2) ? .refresh(cron) : .continuous,
            jitter: .seconds(Bool.random(using: &random) ? 90 : 0),
            windows: windows,
            zone: try berlin(),
            pausesOn: [.metered, .poorNetwork],
            offlineLimit: .seconds(Int64.random(in: 1...8, using: &random) * 43_200)
        )
    }

    @Test(
        "Schedules of any kind, minute by minute: nothing changes before it was said to",
        .timeLimit(.minutes(5))
    )
    func promises() throws {
        // Two of the weeks have a change of the clocks in them.
        let starts = [
            "2026-03-26", "2026-10-22", "2026-01-01", "2026-02-26", "2026-06-10", "2026-08-30",
        ]
        var (minutes, changes, refreshes, protections) = (0, 0, 0, 0)
        for (number, day) in starts.enumerated() {
            var random = SplitMix64(seed: UInt64(number))
            let policy = try Self.policy(number: number, using: &random)
            let first = instant("\(day)T00:00Z")
            var history = SyncHistory(lastSynced: first, lastRefresh: first, seed: UInt64(number))
            var conditions = Conditions(interface: "eth0")
            var promise: ScheduleDecision?
            var last: ScheduleDecision.Permission?
            for minute in 0..<(6 * 1_440) {
                let now = first + .seconds(Int64(minute) * 60)
                minutes += 1
                // Some hours of bad conditions now and then.
                if Int.random(in: 0..<300, using: &random) == 0 {
                    conditions.metering = Int.random(in: 0..<4, using: &random) == 0 ? .yes : .no
                    conditions.isNetworkPoor = Int.random(in: 0..<4, using: &random) == 0
                    promise = nil
                }
                let decision = policy.decision(at: now, conditions, NetworkPolicy(), history)
                // The end of a promise is rounded up to the next second.
                if let promise, now + .seconds(1) < promise.validUntil ?? now + .seconds(2) {
                    check(decision.permission == promise.permission, number, now)
                }
                if decision.permission != last { changes += 1 }
                last = decision.permission
                promise = decision
                let isOpen =
                    policy.windows.isEmpty || policy.windows.opening(at: now, policy.zone) != nil
                switch decision.permission {
                case .run:
                    check(isOpen, number, now)
                    history.lastSynced = now
                    promise = nil
                case .once(.refresh):
                    check(isOpen, number, now)
                    refreshes += 1
                    (history.lastRefresh, history.lastSynced) = (now, now)
                    promise = nil
                case .once(.offlineLimit):
                    // Only from the share on at which it has to be.
                    let silence = now - (history.lastSynced ?? first)
                    check(silence / policy.offlineLimit >= 0.8, number, now)
                    protections += 1
                    (history.lastProtection, history.lastSynced) = (now, now)
                    promise = nil
                case .paused(.scheduleWindow):
                    check(!isOpen, number, now)
                case .paused(let pause):
                    check(isOpen, number, now)
                    if pause == .metered { check(conditions.metering == .yes, number, now) }
                    if pause == .poorNetwork { check(conditions.isNetworkPoor, number, now) }
                }
                // A pause never outlives the limit.
                if let synced = history.lastSynced {
                    check(now - synced < policy.offlineLimit, number, now)
                }
            }
        }
        print(
            "\(minutes) minutes, \(changes) changes, \(refreshes) refreshes, \(protections) protected"
        )
        #expect(changes > 20 && refreshes > 10 && protections > 0)
    }
}
