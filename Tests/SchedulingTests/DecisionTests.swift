import Testing

@testable import Scheduling

@Suite("When to sync, told as stories")
struct DecisionTests {
    private func windows(_ texts: String...) throws -> [WeeklyWindow] {
        try texts.map { text throws(ScheduleTextError) in try WeeklyWindow(text) }
    }

    @Test("Continuous without windows always runs")
    func always() throws {
        var timeline = Timeline(SchedulePolicy())
        try timeline.tell(
            """
            Fri 00:00 run
            Fri 12:00 metered!       # not a pause condition
            Fri 12:00 battery 10!
            Fri 12:00 poor!
            Fri 12:00 run
            """
        )
        let decision = SchedulePolicy().decision(
            at: instant("2026-11-20T00:00Z"),
            Conditions(),
            NetworkPolicy(),
            SyncHistory()
        )
        #expect(decision == ScheduleDecision(permission: .run))
    }

    @Test("Windows across midnight and on certain days")
    func hours() throws {
        var timeline = Timeline(
            SchedulePolicy(
                windows: try windows("Mon-Fri 22:00-06:00", "Sun 00:00-24:00"),
                zone: try berlin()
            )
        )
        try timeline.tell(
            """
            Fri 21:59 schedule-window
            Fri 22:00 run
            Sat 05:59 run               # it opened on Friday
            Sat 06:00 schedule-window
            Sat 23:59 schedule-window
            Sun 00:00 run
            Sun 23:59 run
            Mon 00:00 schedule-window
            Mon 22:00 run
            """
        )
    }

    @Test("The worst condition is the cause, and each needs to be listed")
    func conditions() throws {
        var timeline = Timeline(
            SchedulePolicy(pausesOn: [.poorNetwork, .metered, .lowBattery]),
            network: NetworkPolicy(deniedInterfaces: [NamePattern("wwan*")])
        )
        try timeline.tell(
            """
            Fri 10:00 run
            Fri 10:01 poor!
            Fri 10:01 poor-network
            Fri 10:02 battery 10!
            Fri 10:02 low-battery
            Fri 10:03 guessed!          # a guess does not count unless it is asked for
            Fri 10:03 low-battery
            Fri 10:04 metered!
            Fri 10:04 metered
            Fri 10:05 lte!
            Fri 10:05 denied-interface
            Fri 10:06 cable!
            Fri 10:06 metered
            Fri 10:07 unmetered!
            Fri 10:07 low-battery
            Fri 10:08 charging!
            Fri 10:08 poor-network
            Fri 10:09 good!
            Fri 10:09 run
            """
        )
    }

    @Test(
        "Without a network no sync starts, even near the offline limit; a local server needs none"
    )
    func noNetwork() throws {
        var timeline = Timeline(SchedulePolicy(offlineLimit: .seconds(3_600)))
        let story = """
            Fri 10:00 synced!
            Fri 10:00 unplugged!
            Fri 10:00 no-network
            Fri 12:00 no-network
            Fri 12:01 plugged!
            Fri 12:01 run
            """
        try timeline.tell(story)
        timeline = Timeline(SchedulePolicy(needsNetwork: false))
        try timeline.tell(story.replacing("no-network", with: "run"))
    }

    @Test("Guesses of NetworkManager count if configured")
    func guesses() throws {
        var timeline = Timeline(
            SchedulePolicy(pausesOn: [.metered]),
            network: NetworkPolicy(guessesMetering: true)
        )
        try timeline.tell("Fri 10:00 guessed!\nFri 10:00 metered")
    }

    @Test("A refresh is due at its instants, and missed ones are made up for once")
    func refresh() throws {
        var timeline = Timeline(
            SchedulePolicy(
                mode: .refresh(try CronExpression("0 */6 * * *")),
                windows: try windows("05:00-20:00"),
                pausesOn: [.metered]
            )
        )
        try timeline.tell(
            """
            Fri 04:00 schedule-window
            Fri 05:00 once refresh      # there has never been one
            Fri 05:01 refreshed!
            Fri 05:01 refresh-interval
            Fri 05:59 refresh-interval
            Fri 06:00 once refresh
            Fri 06:00 refreshed!
            Fri 11:59 metered!
            Fri 12:00 metered
            Fri 15:00 unmetered!
            Fri 15:00 once refresh      # that of 12:00
            Fri 15:02 refreshed!
            Fri 18:00 once refresh
            Fri 20:00 schedule-window   # not carried out in time
            Sat 05:00 once refresh
            Sat 05:00 refreshed!
            Sat 05:30 refresh-interval
            """
        )
    }

    @Test("Manual never syncs automatically, even near the offline limit")
    func manual() throws {
        var timeline = Timeline(
            SchedulePolicy(mode: .manual, offlineLimit: .seconds(10 * 3_600))
        )
        try timeline.tell(
            """
            Fri 00:00 synced!
            Fri 09:00 manual-mode
            Sat 00:00 manual-mode
            """
        )
    }

    @Test("From 80 % of the offline limit one refresh is allowed, each hour at most")
    func offlineLimit() throws {
        let closed = SchedulePolicy(
            windows: try windows("Mon 03:00-04:00"),
            offlineLimit: .seconds(50 * 3_600)
        )
        var timeline = Timeline(closed)
        try timeline.tell(
            """
            Fri 00:00 schedule-window   # the server has never heard of it
            Fri 00:00 synced!
            Sat 15:59 schedule-window
            Sat 16:00 once offline-limit
            Sat 16:05 let through!      # it failed
            Sat 16:05 schedule-window
            Sat 17:04 schedule-window
            Sat 17:05 once offline-limit
            Sat 17:06 synced!
            Sat 17:06 schedule-window
            """
        )
        var unprotected = closed
        unprotected.protectsOfflineLimit = false
        timeline = Timeline(unprotected)
        try timeline.tell("Fri 00:00 synced!\nSun 23:00 schedule-window")
        let share = unprotected.decision(
            at: instant("2026-11-21T21:00Z"),
            Conditions(),
            NetworkPolicy(),
            SyncHistory(lastSynced: instant("2026-11-20T00:00Z"))
        ).offlineShare
        #expect(try #require(share) > 0.89)
        #expect(try #require(share) < 0.91)
        timeline = Timeline(
            SchedulePolicy(offlineLimit: .seconds(3_600)),
            network: NetworkPolicy(deniedInterfaces: [NamePattern("*")])
        )
        try timeline.tell("Fri 00:00 lte!\nFri 00:00 synced!\nFri 03:00 denied-interface")
    }

    @Test("A refresh is delayed by at most the jitter, each realm by its own share")
    func jitter() throws {
        let policy = SchedulePolicy(
            mode: .refresh(try CronExpression("0 * * * *")),
            jitter: .seconds(600)
        )
        var delays: Set<Duration> = []
        for seed in UInt64(0)..<200 {
            let history = SyncHistory(lastRefresh: instant("2026-11-20T10:30Z"), seed: seed)
            let decision = policy.decision(
                at: instant("2026-11-20T10:30Z"),
                Conditions(),
                NetworkPolicy(),
                history
            )
            let due = try #require(decision.nextAllowed)
            let delay = due - instant("2026-11-20T11:00Z")
            #expect(Duration.zero...Duration.seconds(600) ~= delay)
            delays.insert(delay)
            let then = policy.decision(at: due, Conditions(), NetworkPolicy(), history)
            #expect(then.permission == .once(.refresh))
        }
        #expect(delays.count > 100)
    }

    @Test(
        "Patterns of interface names",
        arguments: [
            ("wwan*", "wwan0", true), ("wwan*", "wwan", true), ("wwan*", "eth0", false),
            ("*", "", true), ("?", "", false), ("eth?", "eth0", true), ("eth?", "eth10", false),
            ("*a*b", "xaxbxab", true), ("*a*b", "xaxbxa", false), ("", "", true),
        ]
    )
    func patterns(pattern: String, name: String, isMatched: Bool) {
        #expect(NamePattern(pattern).matches(name) == isMatched)
    }
}
