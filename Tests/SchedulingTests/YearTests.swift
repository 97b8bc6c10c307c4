import Testing

@testable import Scheduling

@Suite("A year, minute by minute")
struct YearTests {
    /// A year of Berlin, with a free choice of windows, from new year on.
    private func year(
        _ policy: SchedulePolicy,
        _ check: (_ now: Instant, _ decision: ScheduleDecision) -> Void
    ) {
        var now = instant("2026-01-01T00:00Z")
        let end = instant("2027-01-01T00:00Z")
        while now < end {
            let decision = policy.decision(at: now, Conditions(), NetworkPolicy(), SyncHistory())
            check(now, decision)
            now = now + .seconds(60)
        }
    }

    @Test("Nightly windows are open as a clock on the wall says, and decisions hold as promised")
    func windows() throws {
        let zone = try berlin()
        let policy = SchedulePolicy(
            windows: [
                try WeeklyWindow("Mon-Fri 22:00-06:00"), try WeeklyWindow("Sun 10:00-24:00"),
            ],
            zone: zone
        )
        var promise: ScheduleDecision?
        var mistakes = 0
        var minutes = 0
        var openMinutes = 0
        year(policy) { now, decision in
            minutes += 1
            let local = zone.localTime(at: now)
            let (day, minute) = (Weekday(ofDay: local.day), local.secondOfDay / 60)
            let isOpen =
                day == .sunday && minute >= 600
                || day != .saturday && day != .sunday && minute >= 1_320
                || day != .sunday && day != .monday && minute < 360
            if isOpen { openMinutes += 1 }
            if (decision.permission == .run) != isOpen { mistakes += 1 }
            // Until it said it would change, it did not, and then it did.
            if let promise, let until = promise.validUntil {
                if (decision.permission == promise.permission) != (now < until) { mistakes += 1 }
            }
            if promise.map({ $0.validUntil.map { $0 <= now } ?? true }) ?? true {
                promise = decision
            }
        }
        #expect(minutes == 525_600)
        #expect(mistakes == 0)
        #expect(openMinutes > 150_000)
    }

    @Test("Each refresh of a year is due once, an hour that runs twice included")
    func refreshes() throws {
        let policy = SchedulePolicy(
            mode: .refresh(try CronExpression("20 2 * * *")),
            jitter: .seconds(30),
            zone: try berlin()
        )
        var history = SyncHistory(lastRefresh: instant("2026-01-01T00:00Z"), seed: 7)
        var now = instant("2026-01-01T00:00Z")
        var count = 0
        // From one decision to the next: what lies between is promised to change nothing.
        while now < instant("2027-01-01T00:00Z") {
            let decision = policy.decision(at: now, Conditions(), NetworkPolicy(), history)
            switch decision.permission {
            case .once(.refresh):
                count += 1
                history.lastRefresh = now
            case .paused(.refreshInterval):
                now = try #require(decision.validUntil)
            case .run, .once, .paused:
                Issue.record("\(decision.permission) at \(shown(now))")
                return
            }
        }
        #expect(count == 365)
    }
}
