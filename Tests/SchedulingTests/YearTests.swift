import FoundationEssentials
import TestSupport
import Testing

@testable import Scheduling

/// In every minute of a year, compares the decision in force with that of a person who watches a
/// clock.
///
/// As in the agent, a decision is in force as long as it says, unless something else has changed.
/// Besides, it is made again every few hours, and every minute around a change of the clocks; with
/// `REALM_SEEDS` every minute of the year, and for that many schedules.
@Suite("A year, minute by minute")
struct YearTests {
    private static let wanted =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init)

    @Test(
        "Each decision is that of a person who watches the clock, and holds as long as it says",
        arguments: WallClock.all
    )
    func decisions(clock: WallClock) throws {
        for seed in 0..<(Self.wanted ?? 1) {
            var random = SplitMix64(seed: seed)
            let written = try #require(PlainSchedule.written[clock.place])
            let schedule = seed == 0 ? written : PlainSchedule.random(using: &random)
            var year = try Year(clock, schedule, random)
            year.pass(decidesAlways: Self.wanted != nil)
            #expect(year.mistakes == [], "seed \(seed), \(schedule)")
            let counts = year.counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            print("\(clock), seed \(seed): \(year.decisions) decisions, \(counts)")
            guard seed == 0 else { continue }
            var words: Set = [
                "no-network", "denied-interface", "metered", "low-battery", "poor-network",
                "once offline-limit",
            ]
            words.formUnion(
                schedule.calendar == nil ? ["run"] : ["once refresh", "refresh-interval"]
            )
            if !schedule.windows.isEmpty { words.insert("schedule-window") }
            #expect(Set(year.counts.keys) == words)
        }
    }
}

/// The conditions of a realm, in plain words.
private struct Weather {
    var hasNetwork = true
    var isDenied = false
    var isMetered = false
    var isBatteryLow = false
    var isPoor = false

    /// Some condition gets better or worse.
    mutating func turn(using random: inout SplitMix64) {
        let isBad = Int.random(in: 0..<4, using: &random) == 0
        switch Int.random(in: 0..<5, using: &random) {
        case 0: hasNetwork = !isBad
        case 1: isDenied = isBad
        case 2: isMetered = isBad
        case 3: isBatteryLow = isBad
        default: isPoor = isBad
        }
    }

    var conditions: Conditions {
        Conditions(
            interface: isDenied ? "wwan0" : "eth0",
            hasNetwork: hasNetwork,
            metering: isMetered ? .yes : .no,
            battery: isBatteryLow ? .init(charge: 0.1, isDischarging: true) : nil,
            isNetworkPoor: isPoor
        )
    }
}

/// A year of one realm: its decisions, the expected ones, and their effects.
private struct Year {
    private let policy: SchedulePolicy
    private let network = NetworkPolicy(deniedInterfaces: [NamePattern("wwan*")])
    private let isContinuous: Bool
    private var watcher: ClockWatcher
    private var random: SplitMix64
    private var weather = Weather()
    private var nextTurn = 0
    private var history = SyncHistory()
    private var lastSynced: Int?
    private var lastProtection: Int?
    /// The last decision, while it is in force.
    private var promise: ScheduleDecision?
    /// A decision and its word: most minutes are like the one before.
    private var current: (permission: ScheduleDecision.Permission, word: String) = (.run, "run")
    private let clock: WallClock
    private(set) var decisions = 0
    /// The number of minutes that each word was in force.
    private(set) var counts: [String: Int] = [:]
    /// The first few.
    private(set) var mistakes: [String] = []

    /// In minutes; four fifths of it are not a whole number.
    private static let offlineLimit = 1_801

    init(_ clock: WallClock, _ schedule: PlainSchedule, _ random: SplitMix64) throws {
        policy = try schedule.policy(in: clock, offlineLimit: .seconds(Self.offlineLimit * 60))
        self.clock = clock
        isContinuous = schedule.calendar == nil
        watcher = ClockWatcher(clock, schedule)
        self.random = random
    }

    mutating func pass(decidesAlways: Bool) {
        for minute in 0..<WallClock.minutesOfYear {
            let (wasOpen, wasDue) = (watcher.isOpen, watcher.isDue)
            watcher.look(at: minute)
            let now = Self.instant(minute)
            if let promise { checkEnd(of: promise, wasOpen, wasDue, minute) }
            if minute == nextTurn {
                weather.turn(using: &random)
                nextTurn += Int.random(in: 1...480, using: &random)
                promise = nil
            }
            if let validUntil = promise?.validUntil, validUntil <= now { promise = nil }
            let isSample = decidesAlways || minute % 241 == 0 || clock.changes(near: minute)
            let decision: ScheduleDecision
            if let promise, !isSample {
                decision = promise
            } else {
                decision = policy.decision(at: now, weather.conditions, network, history)
                decisions += 1
                let holds = promise.map { $0.permission == decision.permission } ?? true
                check(holds, minute, "another decision than was promised")
            }
            if decision.permission != current.permission {
                current = (decision.permission, Timeline.words(decision.permission))
            }
            let word = current.word
            let (expected, isNearLimit) = expectation(at: minute)
            counts[word, default: 0] += 1
            check(word == expected, minute, "\(word) instead of \(expected)")
            check((decision.offlineShare != nil) == isNearLimit, minute, "the offline share")
            promise = decision
            follow(word, minute)
        }
    }

    /// Checks that a predicted change occurs at its predicted time.
    private mutating func checkEnd(
        of last: ScheduleDecision,
        _ wasOpen: Bool,
        _ wasDue: Bool,
        _ minute: Int
    ) {
        let now = Self.instant(minute)
        switch last.permission {
        case .paused(.scheduleWindow) where watcher.isOpen:
            check(last.nextAllowed == now, minute, "an opening")
        case .paused(.refreshInterval) where watcher.isOpen && wasOpen && watcher.isDue && !wasDue:
            // If one window ends in another, it only predicts when to decide again.
            check((last.nextAllowed ?? last.validUntil) == now, minute, "a refresh")
        case .run where !watcher.isOpen:
            check(last.validUntil == now, minute, "a closing")
        case .run, .once, .paused:
            break
        }
    }

    /// The expected word, and whether the offline limit is near.
    private func expectation(at minute: Int) -> (word: String, isNearLimit: Bool) {
        let word =
            if !watcher.isOpen { "schedule-window" } else if !weather.hasNetwork {
                "no-network"
            } else if weather.isDenied {
                "denied-interface"
            } else if weather.isMetered {
                "metered"
            } else if weather.isBatteryLow {
                "low-battery"
            } else if weather.isPoor {
                "poor-network"
            } else if isContinuous {
                "run"
            } else {
                watcher.isDue ? "once refresh" : "refresh-interval"
            }
        let isPaused = word != "run" && word != "once refresh"
        guard isPaused, let lastSynced, (minute - lastSynced) * 5 >= Self.offlineLimit * 4 else {
            return (word, false)
        }
        let isMeant = word == "no-network" || word == "denied-interface"
        let isTooEarly = lastProtection.map { minute - $0 < 60 } ?? false
        return (isMeant || isTooEarly ? word : "once offline-limit", true)
    }

    /// The effects; an action that has begun is not always completed.
    private mutating func follow(_ word: String, _ minute: Int) {
        let now = Self.instant(minute)
        switch word {
        case "run":
            // Connected, which changes the history, but not the prediction.
            (lastSynced, history.lastSynced) = (minute, now)
        case "once refresh" where Int.random(in: 0..<3, using: &random) > 0:
            watcher.isDue = false
            (lastSynced, history.lastSynced, history.lastRefresh) = (minute, now, now)
            promise = nil
        case "once offline-limit":
            (lastProtection, history.lastProtection) = (minute, now)
            if Bool.random(using: &random) { (lastSynced, history.lastSynced) = (minute, now) }
            promise = nil
        default:
            break
        }
    }

    private mutating func check(_ holds: Bool, _ minute: Int, _ what: @autoclosure () -> String) {
        guard !holds, mistakes.count < 5 else { return }
        mistakes.append("\(shown(Self.instant(minute))): \(what())")
    }

    private static func instant(_ minute: Int) -> Instant {
        Instant(secondsSince1970: Int64(WallClock.newYear + minute) * 60)
    }
}
