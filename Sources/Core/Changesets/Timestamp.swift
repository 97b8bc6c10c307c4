/// An instant: seconds and nanoseconds since 1970-01-01T00:00:00Z (changesets spec, 2.5).
///
/// Both parts carry the same sign or are zero: half a second before the epoch is (0, -500000000).
package struct Timestamp: Hashable, Sendable {
    package let seconds: Int64
    /// -999 999 999 ... 999 999 999.
    package let nanoseconds: Int32

    /// Nil if the signs differ or there are a billion nanoseconds or more.
    package init?(seconds: Int64, nanoseconds: Int64) {
        guard (-999_999_999...999_999_999).contains(nanoseconds),
            seconds.signum() * nanoseconds.signum() >= 0
        else { return nil }
        self.seconds = seconds
        self.nanoseconds = Int32(nanoseconds)
    }

    private init() {
        self.seconds = 0
        self.nanoseconds = 0
    }

    package static let epoch = Timestamp()
}

extension Timestamp: Comparable {
    package static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
