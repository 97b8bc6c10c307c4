package import Changesets
import Documents

/// An instant as written in a query: unlike `Timestamp`, it may have a billion nanoseconds or more
/// (query as recorded, 12).
package struct QueryDate: Hashable, Sendable {
    package let seconds: Int64
    package let nanoseconds: Int32

    package init(_ timestamp: Timestamp) {
        self.seconds = timestamp.seconds
        self.nanoseconds = timestamp.nanoseconds
    }

    enum Problem: Error {
        case mixedSigns, beforeCalendar
    }

    /// `T<seconds>:<nanoseconds>`. Seconds saturate; nanoseconds keep their lower 32 bits.
    init(seconds text: ArraySlice<UInt8>) throws(Problem) {
        let parts = text.dropFirst().split(separator: UInt8(ascii: ":"), maxSplits: 1)
        self.seconds = IntegerText.parse(parts[0])
        self.nanoseconds = Int32(truncatingIfNeeded: IntegerText.parse(parts[1]))
        guard (seconds >= 0 && nanoseconds >= 0) || (seconds <= 0 && nanoseconds <= 0) else {
            throw .mixedSigns
        }
    }

    /// `Y-M-D@h:m:s[:nanoseconds]` in UTC. Fields out of their range carry over to the next larger
    /// one.
    init(calendar text: ArraySlice<UInt8>) throws(Problem) {
        // Larger fields would overflow below, and are not dates.
        let fields = text.split { !$0.isASCIIDigit }
            .map { min(IntegerText.parseDecimal($0), 1_000_000_000) }
        guard fields[0] >= 1900 else { throw .beforeCalendar }
        let months = fields[0] * 12 + fields[1] - 1
        let month = CivilDate(year: months / 12, month: months % 12 + 1, day: 1)
        let days = month.daysSince1970 + fields[2] - 1
        self.seconds = ((days * 24 + fields[3]) * 60 + fields[4]) * 60 + fields[5]
        let digits = text.split { !$0.isASCIIDigit }.dropFirst(6).first ?? []
        let nanoseconds = Int32(truncatingIfNeeded: IntegerText.parseDecimal(digits))
        guard nanoseconds >= 0 else { throw .mixedSigns }
        self.nanoseconds = seconds < 0 ? -nanoseconds : nanoseconds
    }

    var text: String { "T\(seconds):\(nanoseconds)" }
}

extension QueryDate: Comparable {
    package static func < (left: QueryDate, right: QueryDate) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
