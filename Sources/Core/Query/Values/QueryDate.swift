package import Changesets

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
        let days = Self.days(beforeYear: months / 12, month: months % 12) + fields[2] - 1
        self.seconds = ((days * 24 + fields[3]) * 60 + fields[4]) * 60 + fields[5]
        let digits = text.split { !$0.isASCIIDigit }.dropFirst(6).first ?? []
        let nanoseconds = Int32(truncatingIfNeeded: IntegerText.parseDecimal(digits))
        guard nanoseconds >= 0 else { throw .mixedSigns }
        self.nanoseconds = seconds < 0 ? -nanoseconds : nanoseconds
    }

    /// From 1970-01-01 to the first day of the month, January being 0.
    private static func days(beforeYear year: Int64, month: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        let before = year - 1
        let days = before * 365 + before / 4 - before / 100 + before / 400 - 719_162
        let firstDays: [Int64] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]
        return days + firstDays[Int(month)] + (isLeap && month > 1 ? 1 : 0)
    }

    var text: String { "T\(seconds):\(nanoseconds)" }
}

extension QueryDate: Comparable {
    package static func < (left: QueryDate, right: QueryDate) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}
