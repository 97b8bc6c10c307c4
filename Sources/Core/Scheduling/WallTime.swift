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
}

extension WallTime: CustomStringConvertible {
    /// ISO 8601 in UTC with milliseconds.
    package var description: String {
        let seconds = floorDivide(millisecondsSince1970, 1000)
        let day = CalendarDay(daysSince1970: floorDivide(seconds, 86_400))
        let second = seconds - floorDivide(seconds, 86_400) * 86_400
        func padded(_ number: some BinaryInteger, _ width: Int = 2) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        let date = [padded(day.year, 4), padded(day.month), padded(day.day)]
        let time = [padded(second / 3600), padded(second / 60 % 60), padded(second % 60)]
        // The product may be below the smallest number; the difference is not.
        let milliseconds = padded(millisecondsSince1970 &- seconds &* 1000, 3)
        return "\(date.joined(separator: "-"))T\(time.joined(separator: ":")).\(milliseconds)Z"
    }
}
