/// An instant of the wall clock in whole seconds, enough for schedules.
package struct Instant: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    package let secondsSince1970: Int64

    package init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    /// Nil for seconds outside 2015 to 2200: a stored past time can be damaged, and nothing must be
    /// computed from it then.
    package init?(plausible seconds: Int64) {
        guard (1_420_070_400...7_258_118_400).contains(seconds) else { return nil }
        self.secondsSince1970 = seconds
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    // Clamped: an instant may be as far away as a number allows.

    package static func + (left: Instant, right: Duration) -> Instant {
        let (sum, overflow) = left.secondsSince1970.addingReportingOverflow(
            right.components.seconds
        )
        return Instant(secondsSince1970: overflow ? (right < .zero ? .min : .max) : sum)
    }

    package static func - (left: Instant, right: Duration) -> Instant {
        let (difference, overflow) = left.secondsSince1970.subtractingReportingOverflow(
            right.components.seconds
        )
        return Instant(secondsSince1970: overflow ? (right < .zero ? .max : .min) : difference)
    }

    package static func - (left: Instant, right: Instant) -> Duration {
        .seconds(left.secondsSince1970) - .seconds(right.secondsSince1970)
    }
}
