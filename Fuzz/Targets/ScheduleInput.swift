import Scheduling

/// The first byte selects the reader.
enum ScheduleInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let first = bytes.first else { return }
        let rest = Array(bytes.dropFirst())
        let text = String(decoding: rest, as: UTF8.self)
        switch first % 3 {
        case 0:
            guard let zone = TimeZoneFile.parse(rest, name: "input") else { return }
            for seconds: Int64 in [0, 1_700_000_000, 4_102_444_800] {
                next("30 2 * * *", seconds, zone, &claims)
            }
        case 1:
            guard let universal = universalTime else { return }
            for seconds: Int64 in [951_782_400, 1_700_000_000] {
                next(text, seconds, universal, &claims)
            }
        default:
            _ = try? WeeklyWindow(text)
        }
    }

    /// A file of one type and no transition, in both of its versions.
    private static let universalTime: TimeZoneRules? = {
        let head =
            Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15 + 16)
            + [0, 0, 0, 1, 0, 0, 0, 4]
        let content = head + [0, 0, 0, 0, 0, 0] + Array("UTC\0".utf8)
        return TimeZoneFile.parse(content + content + Array("\nUTC0\n".utf8), name: "UTC")
    }()

    private static func next(
        _ line: String,
        _ seconds: Int64,
        _ zone: TimeZoneRules,
        _ claims: inout Claims
    ) {
        guard let cron = try? CronExpression(line) else { return }
        let start = Instant(secondsSince1970: seconds)
        guard let next = cron.next(after: start, zone) else { return }
        claims.check(start < next, "a schedule does not advance")
    }
}
