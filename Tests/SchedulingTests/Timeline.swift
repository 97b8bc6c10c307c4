import Testing

@testable import Scheduling

/// A story of a realm, written as text: one line for each minute at which something happens.
///
///     Fri 21:59  window          # what the decision must be at that minute
///     Fri 22:00  run
///     Fri 23:00  metered!        # from now on the connection is metered
///     Fri 23:00  paused metered
///
/// Weekdays follow each other from Friday 2026-11-20 on, or from another day; times are local, and one that
/// clocks show twice is the first, unless `*` follows it. Words that end in "!" change
/// the conditions or the history; all others are the decision expected: `run`, `once REASON`, or the
/// cause of a pause.
struct Timeline {
    let policy: SchedulePolicy
    var network = NetworkPolicy()
    var history = SyncHistory()
    private var conditions = Conditions()
    private let firstDay: CalendarDay

    init(
        _ policy: SchedulePolicy,
        network: NetworkPolicy = NetworkPolicy(),
        from firstDay: CalendarDay = CalendarDay(year: 2026, month: 11, day: 20)
    ) {
        self.policy = policy
        self.network = network
        self.firstDay = firstDay
    }

    /// Runs the story; each line that does not match is an issue.
    mutating func tell(_ story: String) throws {
        var day = firstDay.daysSince1970
        for line in story.split(separator: "\n") {
            let text = line.split(separator: "#", omittingEmptySubsequences: false)[0]
            let words = text.split(separator: " ")
            guard words.count >= 3 else { continue }
            let weekday = try #require(Weekday(name: words[0]))
            while Weekday(ofDay: day) != weekday { day += 1 }
            let isSecond = words[1].hasSuffix("*")
            let clock = words[1].split { $0 == ":" || $0 == "*" }.compactMap { Int($0) }
            let time = LocalTime(day: day, secondOfDay: clock[0] * 3_600 + clock[1] * 60)
            let meaning = policy.zone.meaning(of: time)
            if case .skipped = meaning { Issue.record("no clock shows \(line)") }
            var now = meaning.first
            if case .twice(_, let second) = meaning, isSecond { now = second }
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
        case "unplugged": (conditions.interface, conditions.hasNetwork) = (nil, false)
        case "plugged": (conditions.interface, conditions.hasNetwork) = ("eth0", true)
        default: Issue.record("unknown word \(what)!")
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
