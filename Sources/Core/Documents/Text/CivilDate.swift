/// A day of the Gregorian calendar, extended backwards without limit.
package struct CivilDate: Hashable {
    let year: Int64
    /// 1 ... 12.
    let month: Int64
    /// 1 ... 31.
    let day: Int64

    /// Days since 1970-01-01.
    ///
    /// A day beyond the end of the month continues counting, as in SQLite: February 31 is three
    /// days after February 28 in an ordinary year.
    package var daysSince1970: Int64 {
        // Years that start in March have the leap day last, where it moves no other month.
        let shiftedYear = month > 2 ? year : year - 1
        let era = shiftedYear.flooredQuotient(Self.yearsPerEra)
        let yearOfEra = shiftedYear - era * Self.yearsPerEra
        let monthFromMarch = (month + 9) % 12
        let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysPerEra + dayOfEra - Self.daysFromYear0To1970
    }

    package init(year: Int64, month: Int64, day: Int64) {
        self.year = year
        self.month = month
        self.day = day
    }

    init(daysSince1970 days: Int64) {
        let shifted = days + Self.daysFromYear0To1970
        let era = shifted.flooredQuotient(Self.daysPerEra)
        let dayOfEra = shifted - era * Self.daysPerEra
        // Subtract the leap days before the day; the rest is whole years of 365.
        let leapDays = dayOfEra / 1460 - dayOfEra / 36_524 + dayOfEra / 146_096
        let yearOfEra = (dayOfEra - leapDays) / 365
        let dayOfYear = dayOfEra - (yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        self.month = (monthFromMarch + 2) % 12 + 1
        self.day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        self.year = era * Self.yearsPerEra + yearOfEra + (month <= 2 ? 1 : 0)
    }

    /// After 400 years the calendar repeats.
    private static let yearsPerEra: Int64 = 400
    private static let daysPerEra: Int64 = 146_097
    /// From 0000-03-01 to 1970-01-01.
    private static let daysFromYear0To1970: Int64 = 719_468
}

extension Int64 {
    /// The quotient rounded towards minus infinity, for a positive divisor.
    func flooredQuotient(_ divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
