/// Recurring instants in cron notation: minute, hour, day, month, weekday.
package struct CronExpression: Hashable, Sendable {
    private let minutes: Set<Int>
    private let hours: Set<Int>
    private let days: Set<Int>
    private let months: Set<Int>
    private let weekdays: Set<Int>
    /// A field of days that begins with `*` leaves the choice to the other one.
    private let daysAreFree: Bool
    private let weekdaysAreFree: Bool

    /// `*`, numbers, ranges, steps and lists of them, and English names; or `@hourly`, `@daily`,
    /// `@weekly`, `@monthly`.
    package init(_ text: String) throws(ScheduleTextError) {
        let fields = Self.shorthands[text, default: text].split(separator: " ")
        guard fields.count == 5 else {
            throw ScheduleTextError(
                problem: "is not a cron expression",
                remedy: """
                    give minute, hour, day, month and weekday, such as "*/15 * * * *"
                    """
            )
        }
        minutes = try Field(name: "minute", range: 0...59).read(fields[0])
        hours = try Field(name: "hour", range: 0...23).read(fields[1])
        days = try Field(name: "day", range: 1...31).read(fields[2])
        months = try Field(name: "month", range: 1...12, names: Self.monthNames).read(fields[3])
        let weekdays = try Field(name: "weekday", range: 0...7, names: Self.weekdayNames)
            .read(fields[4])
        self.weekdays = Set(weekdays.map { $0 % 7 })
        daysAreFree = fields[2].hasPrefix("*")
        weekdaysAreFree = fields[4].hasPrefix("*")
        // A leap year has every possible day.
        let leapYear = CalendarDay(year: 2024, month: 1, day: 1).daysSince1970
        guard (0..<366 * 7).contains(where: { matches(day: leapYear + $0) }) else {
            throw ScheduleTextError(
                problem: "never comes",
                remedy: "give a day that the month has"
            )
        }
    }

    private static let shorthands = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *",
        "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *",
    ]

    private static let monthNames = [
        "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9,
        "oct": 10, "nov": 11, "dec": 12,
    ]

    private static let weekdayNames = [
        "sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6,
    ]

    private struct Field {
        let name: String
        let range: ClosedRange<Int>
        var names: [String: Int] = [:]

        func read(_ text: Substring) throws(ScheduleTextError) -> Set<Int> {
            var values: Set<Int> = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                values.formUnion(try self.part(part))
            }
            return values
        }

        private func part(_ text: Substring) throws(ScheduleTextError) -> Set<Int> {
            let pieces = text.split(separator: "/", omittingEmptySubsequences: false)
            let step = pieces.count == 2 ? Int(pieces[1]) : pieces.count == 1 ? 1 : nil
            guard let span = pieces.first.flatMap(span), let step, step > 0, step <= 60 else {
                throw ScheduleTextError(
                    problem: "\(text) is not a valid \(name)",
                    remedy: "use \(range.lowerBound) to \(range.upperBound), *, a-b, */n or a list"
                )
            }
            let end = pieces.count == 2 && span.count == 1 ? range.upperBound : span.upperBound
            return Set(stride(from: span.lowerBound, through: end, by: step))
        }

        private func span(_ text: Substring) -> ClosedRange<Int>? {
            if text == "*" { return range }
            let ends = text.split(separator: "-", omittingEmptySubsequences: false).map(value)
            guard ends.count <= 2, let first = ends[0], let last = ends[ends.count - 1],
                first <= last
            else { return nil }
            return first...last
        }

        private func value(_ text: Substring) -> Int? {
            if let value = names[text.lowercased()] { return value }
            guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
                let value = Int(text), range.contains(value)
            else { return nil }
            return value
        }
    }
}

// MARK: When

extension CronExpression {
    /// The first instant after another.
    ///
    /// With a fixed hour, a time that clocks skip occurs at their change, and one that they repeat
    /// occurs once. With every hour (`*`), the displayed time counts.
    package func next(after instant: Instant, _ zone: TimeZoneRules) -> Instant? {
        runsHourly
            ? nextShown(after: instant, zone)
            : nextPlanned(after: instant, zone)
    }

    private var runsHourly: Bool { hours.count == 24 }

    private func matches(day: Int64) -> Bool {
        let date = CalendarDay(daysSince1970: day)
        guard months.contains(date.month) else { return false }
        let isDay = days.contains(date.day)
        let isWeekday = weekdays.contains(Weekday(ofDay: day).rawValue)
        // Two restrictions are alternatives: "the 13th, and Fridays".
        return daysAreFree || weekdaysAreFree ? isDay && isWeekday : isDay || isWeekday
    }

    /// Leap days on a certain weekday come every 28 years, or 40 around 2100.
    private static let horizonInDays: Int64 = 41 * 366

    // MARK: Every hour

    private func nextShown(after instant: Instant, _ zone: TimeZoneRules) -> Instant? {
        var seconds = floorDivide(instant.secondsSince1970, 60) * 60 + 60
        let end = seconds + Self.horizonInDays * 86_400
        while seconds < end {
            let shown = zone.localTime(at: Instant(secondsSince1970: seconds))
            if !matches(day: shown.day) {
                // To the next full hour, so as not to miss a change of the clocks.
                seconds += Int64(3_600 - shown.secondOfDay % 3_600)
            } else if minutes.contains(shown.secondOfDay / 60 % 60) {
                return Instant(secondsSince1970: seconds - Int64(shown.secondOfDay % 60))
            } else {
                seconds += 60
            }
        }
        return nil
    }

    // MARK: At fixed hours

    private func nextPlanned(after instant: Instant, _ zone: TimeZoneRules) -> Instant? {
        let today = zone.localTime(at: instant).day
        for day in (today - 1)...(today + Self.horizonInDays) {
            let next = plan(day, zone).filter { $0 > instant }.min()
            if let next { return next }
        }
        return nil
    }

    private func plan(_ day: Int64, _ zone: TimeZoneRules) -> [Instant] {
        guard matches(day: day) else { return [] }
        return hours.flatMap { hour in
            minutes.map { minute in
                zone.meaning(
                    of: LocalTime(day: day, secondOfDay: hour * 3_600 + minute * 60)
                ).first
            }
        }
    }
}
