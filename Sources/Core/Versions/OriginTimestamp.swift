/// The time of a changeset at its origin: milliseconds since 2015-01-01T00:00:00Z, without leap
/// seconds (sync history, 3.3).
package struct OriginTimestamp: Hashable, Sendable, Comparable {
    /// 0 ... 2^63 - 1.
    package let rawValue: UInt64

    package init(_ rawValue: UInt64) {
        self.rawValue = rawValue
    }

    /// Milliseconds from 1970-01-01 to 2015-01-01.
    package static let epochOffsetInMilliseconds: Int64 = 1_420_070_400_000

    /// 2015 to 2200 in milliseconds since 1970: other times in a file or a token are errors, or
    /// forged.
    package static let plausibleMilliseconds = epochOffsetInMilliseconds...7_258_118_400_000

    /// The end of 2199.
    package static let latestPlausible = OriginTimestamp(
        UInt64(plausibleMilliseconds.upperBound - epochOffsetInMilliseconds)
    )

    /// As stored in a file: an impossible value becomes the nearest possible one.
    package init(stored milliseconds: Int64) {
        self = min(OriginTimestamp(UInt64(clamping: milliseconds)), .latestPlausible)
    }

    /// Nil for an instant before 2015: such a clock must be refused, not clamped.
    package init?(millisecondsSince1970 milliseconds: Int64) {
        guard milliseconds >= Self.epochOffsetInMilliseconds else { return nil }
        self.rawValue = UInt64(milliseconds - Self.epochOffsetInMilliseconds)
    }

    /// The instant, in milliseconds since 1970.
    package var millisecondsSince1970: Int64 {
        let (sum, isTooLarge) = Int64(clamping: rawValue)
            .addingReportingOverflow(Self.epochOffsetInMilliseconds)
        return isTooLarge ? .max : sum
    }

    package static func < (left: OriginTimestamp, right: OriginTimestamp) -> Bool {
        left.rawValue < right.rawValue
    }
}
