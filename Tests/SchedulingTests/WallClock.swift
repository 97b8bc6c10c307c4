/// The clocks of a place in 2026, from its almanac: written by hand, independent of our code.
struct WallClock: CustomStringConvertible, Sendable {
    let place: String
    /// The rule of a configuration's time zone in POSIX form.
    let rule: String
    /// Minutes east of UTC at the beginning of the year.
    let offset: Int
    /// The minutes of the year, in UTC, at which clocks change, and the new offsets in minutes east
    /// of UTC.
    let changes: [(minute: Int, offset: Int)]

    var description: String { place }

    /// 2026-01-01T00:00Z, in minutes since 1970.
    static let newYear = 20_454 * 1_440

    static let minutesOfYear = 365 * 1_440

    /// Minutes since 1970 on the clock.
    func shown(at minute: Int) -> Int {
        Self.newYear + minute + (changes.last { $0.minute <= minute }?.offset ?? offset)
    }

    /// Whether clocks change within half a day of a minute of the year.
    func changes(near minute: Int) -> Bool {
        changes.contains { abs($0.minute - minute) <= 720 }
    }

    private static func minute(ofDay day: Int, _ hour: Int, _ minute: Int = 0) -> Int {
        (day - 1) * 1_440 + hour * 60 + minute
    }

    static let all = [
        // 29 March and 25 October, 01:00 UTC.
        WallClock(
            place: "Europe/Berlin",
            rule: "CET-1CEST,M3.5.0,M10.5.0/3",
            offset: 60,
            changes: [(minute(ofDay: 88, 1), 120), (minute(ofDay: 298, 1), 60)]
        ),
        // 8 March, 07:00 UTC, and 1 November, 06:00 UTC.
        WallClock(
            place: "America/New_York",
            rule: "EST5EDT,M3.2.0,M11.1.0",
            offset: -300,
            changes: [(minute(ofDay: 67, 7), -240), (minute(ofDay: 305, 6), -300)]
        ),
        // Half an hour: 4 April, 15:00 UTC, and 3 October, 15:30 UTC.
        WallClock(
            place: "Australia/Lord_Howe",
            rule: "<+1030>-10:30<+11>-11,M10.1.0,M4.1.0",
            offset: 660,
            changes: [(minute(ofDay: 94, 15), 630), (minute(ofDay: 276, 15, 30), 660)]
        ),
        // At midnight: 5 April, 03:00 UTC, and 6 September, 04:00 UTC.
        WallClock(
            place: "America/Santiago",
            rule: "<-04>4<-03>,M9.1.6/24,M4.1.6/24",
            offset: -180,
            changes: [(minute(ofDay: 95, 3), -240), (minute(ofDay: 249, 4), -180)]
        ),
        // A minute after midnight, as it was until 2011: the repeated times are of the day before.
        WallClock(
            place: "America/St_Johns",
            rule: "NST3:30NDT,M3.2.0/0:01,M11.1.0/0:01",
            offset: -210,
            changes: [(minute(ofDay: 67, 3, 31), -150), (minute(ofDay: 305, 2, 31), -210)]
        ),
    ]
}
