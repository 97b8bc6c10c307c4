import FoundationEssentials
import Testing

@testable import Scheduling

/// `2026-11-20T22:00Z`
func instant(_ text: String) -> Instant {
    let numbers = text.split { !$0.isNumber }.compactMap { Int64($0) }
    guard numbers.count == 5 else {
        Issue.record("\(text) is not an instant")
        return Instant(secondsSince1970: 0)
    }
    let day = CalendarDay(year: numbers[0], month: Int(numbers[1]), day: Int(numbers[2]))
    return Instant(
        secondsSince1970: day.daysSince1970 * 86_400 + numbers[3] * 3_600 + numbers[4] * 60
    )
}

func shown(_ instant: Instant?) -> String {
    guard let instant else { return "never" }
    let time = LocalTime(seconds: instant.secondsSince1970)
    let day = CalendarDay(daysSince1970: time.day)
    func padded(_ number: some BinaryInteger) -> String { (number < 10 ? "0" : "") + "\(number)" }
    let seconds = time.secondOfDay % 60
    return "\(day.year)-\(padded(day.month))-\(padded(day.day))"
        + "T\(padded(time.secondOfDay / 3_600)):\(padded(time.secondOfDay / 60 % 60))"
        + (seconds == 0 ? "" : ":\(padded(seconds))") + "Z"
}

/// A zone of the host; the package tzdata is on every Debian system that is not minimal.
func zone(_ name: String) throws -> TimeZoneRules {
    let data = try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/\(name)"))
    return try #require(TimeZoneFile.parse([UInt8](data), name: name))
}

/// The rules of Europe/Berlin for the years after 1996, independent of the host.
func berlin() throws -> TimeZoneRules {
    let rule = try #require(DaylightRule(posix: Array("CET-1CEST,M3.5.0,M10.5.0/3".utf8)[...]))
    return TimeZoneRules(
        name: "Europe/Berlin",
        initialOffset: 3_600,
        transitions: [],
        rule: rule
    )
}
