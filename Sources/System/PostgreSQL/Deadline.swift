/// The moment at which a wait for the server ends, on a clock that only moves forward.
package struct Deadline: Hashable, Sendable {
    package let instant: ContinuousClock.Instant

    package init(_ instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    package static func after(_ duration: Duration) -> Deadline {
        Deadline(.now + duration)
    }

    package var hasPassed: Bool { instant <= .now }

    /// The time left; zero once the deadline has passed.
    package var remaining: Duration { max(.zero, instant - .now) }

    /// An equal part of the remaining time, for the next of several attempts.
    func share(among attempts: Int) -> Deadline {
        .after(remaining / max(attempts, 1))
    }

    /// The remaining time for `poll()`, in milliseconds, rounded up.
    package var milliseconds: Int32 {
        let (seconds, attoseconds) = remaining.components
        guard seconds < 1_000_000 else { return 1_000_000_000 }
        let fraction = (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        return Int32(seconds * 1000 + fraction)
    }
}
