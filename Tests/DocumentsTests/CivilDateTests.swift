import Testing

@testable import Documents

@Suite("Civil dates")
struct CivilDateTests {
    @Test(
        "Days are counted from 1970",
        arguments: [
            (CivilDate(year: 1970, month: 1, day: 1), 0),
            (CivilDate(year: 1969, month: 12, day: 31), -1),
            (CivilDate(year: 2000, month: 2, day: 29), 11_016),
            (CivilDate(year: 2000, month: 3, day: 1), 11_017),
            (CivilDate(year: 1900, month: 3, day: 1), -25_508),
            (CivilDate(year: 0, month: 1, day: 1), -719_528),
            (CivilDate(year: 9999, month: 12, day: 31), 2_932_896),
            (CivilDate(year: -1, month: 12, day: 31), -719_529),
        ] as [(CivilDate, Int64)]
    )
    func knownDays(date: CivilDate, days: Int64) {
        #expect(date.daysSince1970 == days)
        #expect(CivilDate(daysSince1970: days) == date)
    }

    @Test("Every day of eight centuries follows the one before, and converts back")
    func consecutiveDays() {
        var previous = CivilDate(year: 1599, month: 12, day: 31)
        let start = previous.daysSince1970
        for days in start + 1...start + 2 * 146_097 {
            let date = CivilDate(daysSince1970: days)
            #expect(date.daysSince1970 == days)
            let isSuccessor =
                date.day == previous.day + 1 && date.month == previous.month
                || date.day == 1 && date.month == previous.month % 12 + 1
            if !isSuccessor { Issue.record("\(previous) is followed by \(date)") }
            previous = date
        }
        #expect(previous == CivilDate(year: 2399, month: 12, day: 31))
    }

    @Test("A day beyond the end of the month counts into the next")
    func overflowingDay() {
        let third = CivilDate(year: 2026, month: 3, day: 3)
        #expect(CivilDate(year: 2026, month: 2, day: 31).daysSince1970 == third.daysSince1970)
    }
}
