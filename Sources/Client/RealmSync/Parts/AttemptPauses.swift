/// Delays between attempts to open a realm; they grow with each failure.
package struct AttemptPauses: Sendable {
    let initial: Duration
    let maximum: Duration
    let multiplier: Double

    private var failures = 0

    package init(initial: Duration, maximum: Duration, multiplier: Double) {
        self.initial = initial
        self.maximum = maximum
        self.multiplier = multiplier
    }

    /// The pause after one more failure.
    mutating func next() -> Duration {
        failures += 1
        var pause = initial
        for _ in 1..<failures where pause < maximum {
            pause = pause * multiplier
        }
        return min(pause, maximum)
    }

    /// A realm that was open this long is sound; one that fails soon after each opening is not.
    mutating func wasOpen(_ duration: Duration) {
        if duration > maximum { failures = 0 }
    }
}

/// Delays between sessions that handlers request after the server has refused the realm.
package struct RetryPauses: Sendable {
    private let fresh: AttemptPauses
    private var pauses: AttemptPauses
    private var last: Duration?

    package init(_ pauses: AttemptPauses) {
        self.fresh = pauses
        self.pauses = pauses
    }

    /// The shortest delay before the next session; it grows while refusals follow each other, and starts
    /// over after twice the longest delay without one.
    package mutating func next(at uptime: Duration) -> Duration {
        if let last, uptime - last > fresh.maximum * 2 { pauses = fresh }
        last = uptime
        return pauses.next()
    }
}
