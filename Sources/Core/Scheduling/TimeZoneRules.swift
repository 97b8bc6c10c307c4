/// The offsets of a time zone from UTC, in the past and in the future.
package struct TimeZoneRules: Hashable, Sendable {
    /// As in the configuration.
    package let name: String
    private let initialOffset: Int
    /// In ascending order.
    private let transitions: [Transition]
    /// The rule after the last transition.
    private let rule: DaylightRule?

    struct Transition: Hashable, Sendable {
        let at: Int64
        /// Seconds east of UTC from this instant on.
        let offset: Int
    }

    init(name: String, initialOffset: Int, transitions: [Transition], rule: DaylightRule?) {
        self.name = name
        self.initialOffset = initialOffset
        self.transitions = transitions
        self.rule = rule
    }

    package static let utc = TimeZoneRules(
        name: "UTC",
        initialOffset: 0,
        transitions: [],
        rule: nil
    )

    /// Seconds east of UTC.
    func offset(at instant: Instant) -> Int {
        let seconds = instant.secondsSince1970
        guard let last = transitions.last, let first = transitions.first else {
            return rule?.offset(at: seconds) ?? initialOffset
        }
        if seconds < first.at { return initialOffset }
        if seconds >= last.at { return rule?.offset(at: seconds) ?? last.offset }
        // The last transition that is not later.
        var (low, high) = (0, transitions.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if transitions[middle].at <= seconds { low = middle } else { high = middle - 1 }
        }
        return transitions[low].offset
    }

    func localTime(at instant: Instant) -> LocalTime {
        LocalTime(seconds: instant.secondsSince1970 + Int64(offset(at: instant)))
    }

    /// When a wall clock shows a time: never, once, or twice.
    enum Meaning: Hashable {
        case once(Instant)
        /// Clocks were set back: the same hour runs twice.
        case twice(Instant, Instant)
        /// Clocks were set forward over this time, at this instant.
        case skipped(at: Instant)

        /// The first instant at which the clock shows this time or a later one.
        var first: Instant {
            switch self {
            case .once(let instant), .twice(let instant, _), .skipped(let instant): instant
            }
        }
    }

    func meaning(of time: LocalTime) -> Meaning {
        // No zone is more than a day from UTC, or changes its offset twice within two days.
        let before = offset(at: Instant(secondsSince1970: time.seconds - 86_400))
        let after = offset(at: Instant(secondsSince1970: time.seconds + 86_400))
        guard before != after else {
            return .once(Instant(secondsSince1970: time.seconds - Int64(before)))
        }
        let instants = [before, after]
            .map { (offset: $0, instant: Instant(secondsSince1970: time.seconds - Int64($0))) }
            .filter { offset(at: $0.instant) == $0.offset }
            .map(\.instant)
            .sorted()
        switch instants.count {
        case 0: return .skipped(at: change(to: after, before: time.seconds - Int64(before)))
        case 1: return .once(instants[0])
        default: return .twice(instants[0], instants[1])
        }
    }

    /// The first instant with the offset, within the two days before one that has it.
    private func change(to offset: Int, before end: Int64) -> Instant {
        var (low, high) = (end - 2 * 86_400, end)
        while low < high {
            let middle = floorDivide(low + high, 2)
            if self.offset(at: Instant(secondsSince1970: middle)) == offset {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return Instant(secondsSince1970: low)
    }
}
