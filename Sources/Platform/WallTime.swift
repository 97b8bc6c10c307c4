import FoundationEssentials
import Glibc

/// An instant of the wall clock.
package struct WallTime: Hashable, Comparable, Sendable {
    /// Since 1970-01-01T00:00:00Z, without leap seconds.
    package let millisecondsSince1970: Int64

    package init(millisecondsSince1970: Int64) {
        self.millisecondsSince1970 = millisecondsSince1970
    }

    /// Clamps: seconds of tokens, certificates and files may be any number.
    package init(secondsSince1970 seconds: Int64) {
        let bound = Int64.max / 1000
        self.millisecondsSince1970 = min(max(seconds, -bound), bound) * 1000
    }

    package static func < (left: WallTime, right: WallTime) -> Bool {
        left.millisecondsSince1970 < right.millisecondsSince1970
    }

    /// The clock of this machine.
    package static func now() -> WallTime {
        WallTime(millisecondsSince1970: Int64(Date.now.timeIntervalSince1970 * 1000))
    }
}

extension WallTime: CustomStringConvertible {
    /// ISO 8601 in UTC with milliseconds.
    package var description: String {
        var seconds = time_t(millisecondsSince1970 / 1000)
        var milliseconds = millisecondsSince1970 % 1000
        if milliseconds < 0 {
            milliseconds += 1000
            seconds -= 1
        }
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func padded(_ number: some BinaryInteger, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = [
            padded(Int(parts.tm_year) + 1900, 4), padded(parts.tm_mon + 1, 2),
            padded(parts.tm_mday, 2),
        ].joined(separator: "-")
        let time = [padded(parts.tm_hour, 2), padded(parts.tm_min, 2), padded(parts.tm_sec, 2)]
            .joined(separator: ":")
        return "\(date)T\(time).\(padded(milliseconds, 3))Z"
    }
}
