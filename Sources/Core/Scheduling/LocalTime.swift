/// The reading of a wall clock: a day of the calendar and the seconds in it.
///
/// Counted as if in UTC, so that days are always 86 400 seconds long; `TimeZoneRules` maps it to an
/// instant.
struct LocalTime: Hashable, Comparable, Sendable {
    /// Since 1970-01-01 00:00 on that clock.
    let seconds: Int64

    init(seconds: Int64) {
        self.seconds = seconds
    }

    init(day: Int64, secondOfDay: Int) {
        self.seconds = day * 86_400 + Int64(secondOfDay)
    }

    static func < (left: LocalTime, right: LocalTime) -> Bool { left.seconds < right.seconds }

    /// Days since 1970-01-01.
    var day: Int64 { floorDivide(seconds, 86_400) }

    var secondOfDay: Int { Int(seconds - day * 86_400) }
}

/// A day of the proleptic Gregorian calendar.
package struct CalendarDay: Hashable, Sendable {
    let year: Int64
    /// From 1.
    let month: Int
    /// From 1.
    let day: Int

    package init(year: Int64, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }

    /// Of a number of days since 1970-01-01.
    init(daysSince1970 days: Int64) {
        // Years that begin in March have the leap day at their end.
        let shifted = days + 719_468
        let era = floorDivide(shifted, 146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra =
            (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.day = Int(dayOfYear - (153 * monthFromMarch + 2) / 5) + 1
        self.month = Int(monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9)
        self.year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int64 {
        let shiftedYear = month <= 2 ? year - 1 : year
        let era = floorDivide(shiftedYear, 400)
        let yearOfEra = shiftedYear - era * 400
        let monthFromMarch = Int64(month > 2 ? month - 3 : month + 9)
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + Int64(day) - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func isLeap(_ year: Int64) -> Bool {
        year.isMultiple(of: 4) && !year.isMultiple(of: 100) || year.isMultiple(of: 400)
    }
}

/// Days of the week, Sunday first as in cron.
package enum Weekday: Int, CaseIterable, Hashable, Sendable {
    case sunday, monday, tuesday, wednesday, thursday, friday, saturday

    init(ofDay day: Int64) {
        // 1970-01-01 was a Thursday.
        let number = Int(((day + 4) % 7 + 7) % 7)
        self = Weekday(rawValue: number) ?? .sunday
    }

    /// `Mon`, or `Monday`, in any case.
    init?(name: some StringProtocol) {
        let names = [
            "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
        ]
        let word = name.lowercased()
        guard let number = names.firstIndex(where: { $0 == word || $0.prefix(3) == word }) else {
            return nil
        }
        self.init(rawValue: number)
    }
}

func floorDivide(_ dividend: Int64, _ divisor: Int64) -> Int64 {
    let quotient = dividend / divisor
    return dividend % divisor < 0 ? quotient - 1 : quotient
}
