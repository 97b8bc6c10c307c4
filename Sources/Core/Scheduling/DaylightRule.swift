/// A rule that gives offsets for all years to come: `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX, "TZ").
struct DaylightRule: Hashable, Sendable {
    /// Seconds east of UTC.
    let standardOffset: Int
    let daylight: Daylight?

    struct Daylight: Hashable, Sendable {
        let offset: Int
        let start: Day
        let end: Day
    }

    /// A day of each year, and the time on it, in the offset that ends then.
    struct Day: Hashable, Sendable {
        let form: Form
        let secondOfDay: Int

        enum Form: Hashable, Sendable {
            /// 1 to 365, without February 29.
            case julian(Int)
            /// 0 to 365.
            case dayOfYear(Int)
            /// Week 5 is the last one of the month.
            case monthly(month: Int, week: Int, weekday: Weekday)
        }
    }

    func offset(at seconds: Int64) -> Int {
        guard let daylight else { return standardOffset }
        let year = CalendarDay(
            daysSince1970: floorDivide(seconds + Int64(standardOffset), 86_400)
        ).year
        let start = daylight.start.seconds(in: year) - Int64(standardOffset)
        let end = daylight.end.seconds(in: year) - Int64(daylight.offset)
        let isDaylight =
            start < end ? seconds >= start && seconds < end : seconds >= start || seconds < end
        return isDaylight ? daylight.offset : standardOffset
    }
}

extension DaylightRule.Day {
    /// Since 1970 on a clock in the offset that ends then.
    func seconds(in year: Int64) -> Int64 {
        let newYear = CalendarDay(year: year, month: 1, day: 1).daysSince1970
        let day: Int64
        switch form {
        case .dayOfYear(let number):
            day = newYear + Int64(number)
        case .julian(let number):
            let isAfterLeapDay = number >= 60 && CalendarDay.isLeap(year)
            day = newYear + Int64(number - 1 + (isAfterLeapDay ? 1 : 0))
        case .monthly(let month, let week, let weekday):
            let first = CalendarDay(year: year, month: month, day: 1).daysSince1970
            let next = CalendarDay(
                year: month == 12 ? year + 1 : year,
                month: month == 12 ? 1 : month + 1,
                day: 1
            ).daysSince1970
            let shift = (weekday.rawValue - Weekday(ofDay: first).rawValue + 7) % 7
            var candidate = first + Int64(shift + 7 * (week - 1))
            while candidate >= next { candidate -= 7 }
            day = candidate
        }
        return day * 86_400 + Int64(secondOfDay)
    }
}

// MARK: Reading

extension DaylightRule {
    init?(posix: ArraySlice<UInt8>) {
        var rest = posix
        guard Self.skipName(&rest), let west = Self.time(&rest) else { return nil }
        standardOffset = -west
        guard !rest.isEmpty else {
            daylight = nil
            return
        }
        guard Self.skipName(&rest) else { return nil }
        var offset = standardOffset + 3_600
        if rest.first != UInt8(ascii: ",") {
            guard let west = Self.time(&rest) else { return nil }
            offset = -west
        }
        guard let start = Self.day(&rest), let end = Self.day(&rest), rest.isEmpty else {
            return nil
        }
        daylight = Daylight(offset: offset, start: start, end: end)
    }

    /// `CET`, or `<+0330>`.
    private static func skipName(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let before = rest.count
        if rest.first == UInt8(ascii: "<") {
            rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
        } else {
            rest = rest.drop {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0 & ~0x20)
            }
        }
        return rest.count < before
    }

    /// `[+-]h[:m[:s]]` in seconds.
    private static func time(_ rest: inout ArraySlice<UInt8>) -> Int? {
        var sign = 1
        if rest.first == UInt8(ascii: "-") { sign = -1 }
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") {
            rest = rest.dropFirst()
        }
        guard var seconds = number(&rest, in: 0...167).map({ $0 * 3_600 }) else { return nil }
        for unit in [60, 1] where rest.first == UInt8(ascii: ":") {
            rest = rest.dropFirst()
            guard let part = number(&rest, in: 0...59) else { return nil }
            seconds += part * unit
        }
        return sign * seconds
    }

    /// `,Mm.w.d[/time]`, `,Jn[/time]` or `,n[/time]`.
    private static func day(_ rest: inout ArraySlice<UInt8>) -> Day? {
        guard rest.first == UInt8(ascii: ",") else { return nil }
        rest = rest.dropFirst()
        let form: Day.Form
        switch rest.first {
        case UInt8(ascii: "M"):
            rest = rest.dropFirst()
            guard let month = number(&rest, in: 1...12), dot(&rest),
                let week = number(&rest, in: 1...5), dot(&rest),
                let day = number(&rest, in: 0...6), let weekday = Weekday(rawValue: day)
            else { return nil }
            form = .monthly(month: month, week: week, weekday: weekday)
        case UInt8(ascii: "J"):
            rest = rest.dropFirst()
            guard let day = number(&rest, in: 1...365) else { return nil }
            form = .julian(day)
        default:
            guard let day = number(&rest, in: 0...365) else { return nil }
            form = .dayOfYear(day)
        }
        var secondOfDay = 7_200
        if rest.first == UInt8(ascii: "/") {
            rest = rest.dropFirst()
            guard let time = time(&rest) else { return nil }
            secondOfDay = time
        }
        return Day(form: form, secondOfDay: secondOfDay)
    }

    private static func dot(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: ".") else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func number(
        _ rest: inout ArraySlice<UInt8>,
        in range: ClosedRange<Int>
    ) -> Int? {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self)).flatMap {
            range.contains($0) ? $0 : nil
        }
    }
}
