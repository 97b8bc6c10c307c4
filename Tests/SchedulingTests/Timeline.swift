import Testing

@testable import Scheduling

/// A story of a realm, written as text: one line for each minute at which something happens.
///
///     Fri 21:59  window          # what the decision must be at that minute
///     Fri 22:00  run
///     Fri 23:00  metered!        # from now on the connection is metered
///     Fri 23:00  paused metered
///
/// Weekdays follow each other from Friday 2026-11-20 on; times are local. Words that end in "!" change
/// the conditions or the history; all others are the decision expected: `run`, `once REASON`, or the
/// cause of a pause.
struct Timeline {
    let policy: SchedulePolicy
    var network = NetworkPolicy()
    var history = SyncHistory()
    private var conditions = Conditions()

    init(_ policy: SchedulePolicy, network: NetworkPolicy = NetworkPolicy()) {
        self.policy = policy
        self.network = network
    }

    /// Tells the story; each line that is not as it should be is an issue.
    mutating func tell(_ story: String) throws {
        var day = CalendarDay(year: 2026, month: 11, day: 20).daysSince1970
        for line in story.split(separator: "\n") {
            let text = line.split(separator: "#", omittingEmptySubsequences: false)[0]
            let words = text.split(separator: " ")
            guard words.count >= 3 else { continue }
            let weekday = try #require(Weekday(name: words[0]))
            while Weekday(ofDay: day) != weekday { day += 1 }
            let clock = words[1].split(separator: ":").compactMap { Int($0) }
            let time = LocalTime(day: day, secondOfDay: clock[0] * 3_600 + clock[1] * 60)
            let now = policy.zone.meaning(of: time).first
            let what = words[2...].joined(separator: " ")
            if what.hasSuffix("!") {
                try change(String(what.dropLast()), at: now)
            } else {
                let decision = policy.decision(at: now, conditions, network, history)
                #expect(Self.words(decision.permission) == what, "\(line)")
            }
        }
    }

    private mutating func change(_ what: String, at now: Instant) throws {
        switch what {
        case "synced": history.lastSynced = now
        case "refreshed": (history.lastRefresh, history.lastSynced) = (now, now)
        case "let through": history.lastProtection = now
        case "metered": conditions.metering = .yes
        case "guessed": conditions.metering = .guessedYes
        case "unmetered": conditions.metering = .no
        case "poor": conditions.isNetworkPoor = true
        case "good": conditions.isNetworkPoor = false
        case "battery 10": conditions.battery = .init(charge: 0.1, isDischarging: true)
        case "charging": conditions.battery = .init(charge: 0.1, isDischarging: false)
        case "lte": conditions.interface = "wwan0"
        case "cable": conditions.interface = "eth0"
        default: Issue.record("nobody knows \(what)!")
        }
    }

    static func words(_ permission: ScheduleDecision.Permission) -> String {
        switch permission {
        case .run: "run"
        case .once(let occasion): "once \(occasion.rawValue)"
        case .paused(let pause): pause.rawValue
        }
    }
}
