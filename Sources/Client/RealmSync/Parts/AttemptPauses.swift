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
