/// A span of hours that recurs on certain days of the week: `Mon-Fri 22:00-06:00`.
package struct WeeklyWindow: Hashable, Sendable {
    /// The days on which it opens.
    package let days: Set<Weekday>
    /// Minutes since midnight.
    let start: Int
    /// At most 1440 more than `start`; beyond 1440 it is a time of the next day.
    let end: Int

    /// Reads `[DAYS] HH:MM-HH:MM`; without days the window opens daily.
    package init(_ text: String) throws(ScheduleTextError) {
        let words = text.split(separator: " ")
        guard let hours = words.last, words.count <= 2 else {
            throw ScheduleTextError(
                problem: "is not a window",
                remedy: "give one such as \"Mon-Fri 22:00-06:00\""
            )
        }
        days = words.count == 2 ? try Self.days(words[0]) : Set(Weekday.allCases)
        let ends = hours.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = Self.minutes(ends[0]), start < 1_440,
            let end = Self.minutes(ends[1])
        else {
            throw ScheduleTextError(
                problem: "\(hours) is not a span of hours",
                remedy: "give one such as 22:00-06:00; the end of a day is 24:00"
            )
        }
        guard start != end else {
            throw ScheduleTextError(
                problem: "ends when it begins",
                remedy: "write 00:00-24:00 for a whole day"
            )
        }
        self.start = start
        self.end = end > start ? end : end + 1_440
    }

    /// `Mon`, `Mon-Fri`, `Sat,Sun`, and combinations of them.
    private static func days(_ text: Substring) throws(ScheduleTextError) -> Set<Weekday> {
        var days: Set<Weekday> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count <= 2, let first = ends.first.flatMap({ Weekday(name: $0) }),
                let last = ends.last.flatMap({ Weekday(name: $0) })
            else {
                throw ScheduleTextError(
                    problem: "\(part) is not a day of the week",
                    remedy: "use Mon, Tue, Wed, Thu, Fri, Sat and Sun"
                )
            }
            let count = (last.rawValue - first.rawValue + 7) % 7
            for step in 0...count {
                if let day = Weekday(rawValue: (first.rawValue + step) % 7) { days.insert(day) }
            }
        }
        return days
    }

    private static func minutes(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.utf8.count) }),
            parts[1].utf8.count == 2, parts.allSatisfy({ $0.allSatisfy(\.isNumber) }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60
        else { return nil }
        let minutes = hour * 60 + minute
        return minutes <= 1_440 ? minutes : nil
    }

    /// When it is open if it opens on that day; nil if it does not.
    ///
    /// An end that the clocks skip moves to the moment of their change, and one that they repeat
    /// counts the first time: so it opens once and closes once. A window that is skipped as a whole
    /// does not open.
    func opening(onDay day: Int64, _ zone: TimeZoneRules) -> Range<Instant>? {
        guard days.contains(Weekday(ofDay: day)) else { return nil }
        let opens = zone.meaning(of: LocalTime(seconds: day * 86_400 + Int64(start * 60))).first
        let closes = zone.meaning(of: LocalTime(seconds: day * 86_400 + Int64(end * 60))).first
        return opens < closes ? opens..<closes : nil
    }
}

extension [WeeklyWindow] {
    /// The span around the instant in which some window is open, as far as the ones open now reach.
    func opening(at instant: Instant, _ zone: TimeZoneRules) -> Range<Instant>? {
        // A window is at most a day long, and clocks move it by a few hours. If they are set back
        // after midnight, the day that has begun continues beside the one that they show again.
        let today = zone.localTime(at: instant).day
        let openings = flatMap { window in
            ((today - 2)...(today + 1)).compactMap { window.opening(onDay: $0, zone) }
        }.filter { $0.contains(instant) }
        guard let start = openings.map(\.lowerBound).min(),
            let end = openings.map(\.upperBound).max()
        else { return nil }
        return start..<end
    }

    /// The first opening that begins after the instant.
    func nextAllowed(after instant: Instant, _ zone: TimeZoneRules) -> Instant? {
        let today = zone.localTime(at: instant).day
        // Clocks may skip the window of one week, or of two.
        for day in (today - 1)...(today + 22) {
            let openings = compactMap { $0.opening(onDay: day, zone)?.lowerBound }
            if let first = openings.filter({ $0 > instant }).min() {
                // A window of the next day may open before one of this: after midnight, clocks set
                // back.
                let others = compactMap { $0.opening(onDay: day + 1, zone)?.lowerBound }
                return ([first] + others.filter { $0 > instant }).min()
            }
        }
        return nil
    }
}
