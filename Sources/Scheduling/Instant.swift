/// An instant of the wall clock in whole seconds: schedules need no more.
package struct Instant: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    package let secondsSince1970: Int64

    package init(secondsSince1970: Int64) {
        self.secondsSince1970 = secondsSince1970
    }

    package static func < (left: Instant, right: Instant) -> Bool {
        left.secondsSince1970 < right.secondsSince1970
    }

    package static func + (left: Instant, right: Duration) -> Instant {
        Instant(secondsSince1970: left.secondsSince1970 + right.components.seconds)
    }

    package static func - (left: Instant, right: Duration) -> Instant {
        Instant(secondsSince1970: left.secondsSince1970 - right.components.seconds)
    }

    package static func - (left: Instant, right: Instant) -> Duration {
        .seconds(left.secondsSince1970 - right.secondsSince1970)
    }
}
