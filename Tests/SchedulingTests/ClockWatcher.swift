/// Acts like a person who looks at a wall clock once a minute: slow, simple, and unlike the rules
/// that it is compared with.
///
/// A time has come when the clock shows it, or a later one, for the first time. That covers hours
/// that clocks skip or show twice.
struct ClockWatcher {
    private let clock: WallClock
    private let calendar: PlainSchedule.Calendar?
    /// For each minute of the week whether it is in a window; Sunday first, nil if there are none.
    private let isInWindow: [Bool]?
    /// The latest time that the clock has ever shown.
    private var latest: Int
    /// Whether a refresh is due; at first, none has been carried out.
    var isDue = true

    private static let week = 7 * 1_440

    init(_ clock: WallClock, _ schedule: PlainSchedule) {
        self.clock = clock
        self.calendar = schedule.calendar
        self.latest = clock.shown(at: 0) - 1
        guard !schedule.windows.isEmpty else {
            isInWindow = nil
            return
        }
        var minutes = Array(repeating: false, count: Self.week)
        for window in schedule.windows {
            for day in window.days {
                for minute in window.opens..<window.closes {
                    minutes[(day * 1_440 + minute) % Self.week] = true
                }
            }
        }
        isInWindow = minutes
    }

    /// 1970-01-01 was a Thursday.
    var isOpen: Bool { isInWindow?[(latest + 4 * 1_440) % Self.week] ?? true }

    /// Reads the clock in a minute of the year; call it for each in turn.
    mutating func look(at minute: Int) {
        let shown = clock.shown(at: minute)
        if let calendar, !isDue {
            if calendar.isHourly {
                isDue = Self.comes(calendar, shown)
            } else if shown > latest {
                isDue = ((latest + 1)...shown).contains { Self.comes(calendar, $0) }
            }
        }
        latest = max(latest, shown)
    }

    private static func comes(_ calendar: PlainSchedule.Calendar, _ shown: Int) -> Bool {
        let day = shown / 1_440
        let date = dates[day - firstDay]
        let minute = shown % 1_440
        return calendar.comes(date.month, date.day, (day + 4) % 7, minute / 60, minute % 60)
    }

    /// Clocks that are behind UTC begin in the last hours of the year before.
    private static let firstDay = WallClock.newYear / 1_440 - 1

    private static let dates: [(month: Int, day: Int)] = {
        let months = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated()
        let year = months.flatMap { month, length in (1...length).map { (month + 1, $0) } }
        return [(12, 31)] + year + [(1, 1)]
    }()
}
