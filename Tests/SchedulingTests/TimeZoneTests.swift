import FoundationEssentials
import Glibc
import Testing

@testable import Scheduling

@Suite("Time zones", .serialized)
struct TimeZoneTests {
    private static let names = [
        "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata",
        "America/Sao_Paulo", "Pacific/Apia", "Europe/Dublin", "Africa/Casablanca", "Asia/Tehran",
        "America/Nuuk", "Antarctica/Troll", "Etc/GMT+12", "UTC",
    ]

    /// Whether the host has the zones, which containers without tzdata lack.
    private static let areInstalled = access("/usr/share/zoneinfo/Europe/Berlin", R_OK) == 0

    @Test(
        "Offsets are those of the C library, from 1900 to 2100",
        .enabled(if: areInstalled, "tzdata is not installed"),
        arguments: names
    )
    func offsets(name: String) throws {
        let zone = try zone(name)
        setenv("TZ", ":\(name)", 1)
        tzset()
        defer {
            unsetenv("TZ")
            tzset()
        }
        // A prime number of minutes, to meet every minute of the hour and hour of the day.
        for seconds in stride(from: Int64(-2_208_988_800), to: 4_102_444_800, by: 60 * 21_601) {
            var time = time_t(seconds)
            var parts = tm()
            localtime_r(&time, &parts)
            let offset = zone.offset(at: Instant(secondsSince1970: seconds))
            #expect(offset == parts.tm_gmtoff, "\(name) at \(seconds)")
        }
    }

    @Test(
        "A wall-clock time maps to its instants",
        .enabled(if: areInstalled, "tzdata is not installed"),
        arguments: names
    )
    func meanings(name: String) throws {
        let zone = try zone(name)
        let start = instant("2026-01-01T00:00Z").secondsSince1970
        for seconds in stride(from: start, to: start + 366 * 86_400, by: 60 * 37) {
            let instant = Instant(secondsSince1970: seconds)
            switch zone.meaning(of: zone.localTime(at: instant)) {
            case .once(let meant): #expect(meant == instant)
            case .twice(let first, let second): #expect([first, second].contains(instant))
            case .skipped: Issue.record("\(name) shows a time that it skips, at \(seconds)")
            }
        }
    }

    @Test("Skipped hours and repeated hours")
    func changes() throws {
        let zone = try berlin()
        func meaning(_ text: String) -> TimeZoneRules.Meaning {
            zone.meaning(of: LocalTime(seconds: instant(text).secondsSince1970))
        }
        #expect(meaning("2026-03-29T02:30Z") == .skipped(at: instant("2026-03-29T01:00Z")))
        #expect(meaning("2026-03-29T03:00Z") == .once(instant("2026-03-29T01:00Z")))
        #expect(
            meaning("2026-10-25T02:30Z")
                == .twice(instant("2026-10-25T00:30Z"), instant("2026-10-25T01:30Z"))
        )
        #expect(meaning("2026-10-25T03:00Z") == .once(instant("2026-10-25T02:00Z")))
    }

    @Test(
        "Rules for future years",
        arguments: [
            ("EST5EDT,M3.2.0,M11.1.0", "2050-07-01T00:00Z", -14_400),
            ("EST5EDT,M3.2.0,M11.1.0", "2050-12-01T00:00Z", -18_000),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2050-07-01T00:00Z", 3_600),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2050-01-01T00:00Z", 0),
            ("<+0330>-3:30", "2050-07-01T00:00Z", 12_600),
            ("<-03>3<-02>,M3.5.0/-2,M10.5.0/-1", "2050-07-01T00:00Z", -7_200),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2050-01-01T00:00Z", 39_600),
            ("XXX0YYY,J60/0,300/0", "2048-02-29T12:00Z", 0),
            ("XXX0YYY,J60/0,300/0", "2048-03-01T12:00Z", 3_600),
            ("XXX0YYY,59/0,300/0", "2048-02-29T12:00Z", 3_600),
        ]
    )
    func rules(text: String, at: String, offset: Int) throws {
        let rule = try #require(DaylightRule(posix: Array(text.utf8)[...]))
        #expect(rule.offset(at: instant(at).secondsSince1970) == offset)
    }

    @Test(
        "Invalid rules",
        arguments: ["", "CET", "CET-1CEST,M3.5.0", "CET-1CEST,M13.1.0,M1.1.0", "CET-1CEST;x"]
    )
    func badRules(text: String) {
        #expect(DaylightRule(posix: Array(text.utf8)[...]) == nil)
    }

    @Test(
        "Damaged files are refused or read, never a trap",
        .enabled(if: areInstalled, "tzdata is not installed")
    )
    func damage() throws {
        let whole = [UInt8](
            try Data(contentsOf: URL(filePath: "/usr/share/zoneinfo/Europe/Berlin"))
        )
        for length in stride(from: 0, to: whole.count - 40, by: 13) {
            #expect(TimeZoneFile.parse(Array(whole.prefix(length)), name: "x") == nil)
        }
        for position in stride(from: 0, to: whole.count, by: 7) {
            var bytes = whole
            bytes[position] ^= 0xff
            _ = TimeZoneFile.parse(bytes, name: "x")?.offset(at: Instant(secondsSince1970: 0))
        }
    }
}
