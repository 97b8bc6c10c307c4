import Testing

@testable import Scheduling

@Suite("Cron expressions")
struct CronTests {
    @Test(
        "The next instant",
        arguments: [
            ("*/15 * * * *", "2026-11-20T22:07Z", "2026-11-20T22:15Z"),
            ("*/15 * * * *", "2026-11-20T22:15Z", "2026-11-20T22:30Z"),
            ("0 3 * * *", "2026-11-20T22:07Z", "2026-11-21T03:00Z"),
            ("30 8-18/2 * * Mon-Fri", "2026-11-20T18:30Z", "2026-11-23T08:30Z"),
            ("0 0 1 jan *", "2026-11-20T00:00Z", "2027-01-01T00:00Z"),
            ("0 0 29 2 *", "2026-11-20T00:00Z", "2028-02-29T00:00Z"),
            ("0 12 13 * Fri", "2026-11-20T12:00Z", "2026-11-27T12:00Z"),
            ("0 12 13 * Fri", "2026-12-11T12:00Z", "2026-12-13T12:00Z"),
            ("0 12 * * 7", "2026-11-20T12:00Z", "2026-11-22T12:00Z"),
            ("5,35 * * * *", "2026-11-20T23:40Z", "2026-11-21T00:05Z"),
            ("50/3 * * * *", "2026-11-20T23:00Z", "2026-11-20T23:50Z"),
            ("@weekly", "2026-11-20T23:00Z", "2026-11-22T00:00Z"),
            ("0 * * * Mon", "2026-11-20T23:00Z", "2026-11-23T00:00Z"),
        ]
    )
    func next(text: String, after: String, expected: String) throws {
        let cron = try CronExpression(text)
        #expect(shown(cron.next(after: instant(after), .utc)) == expected)
    }

    @Test(
        "A fixed hour occurs once despite clock changes; every hour occurs as shown",
        arguments: [
            ("30 2 * * *", "2026-03-29T00:00Z", ["2026-03-29T01:00Z", "2026-03-30T00:30Z"]),
            ("30 2 * * *", "2026-10-24T23:00Z", ["2026-10-25T00:30Z", "2026-10-26T01:30Z"]),
            (
                "30 * * * *", "2026-03-28T23:45Z",
                ["2026-03-29T00:30Z", "2026-03-29T01:30Z", "2026-03-29T02:30Z"]
            ),
            (
                "30 * * * *", "2026-10-24T23:45Z",
                ["2026-10-25T00:30Z", "2026-10-25T01:30Z", "2026-10-25T02:30Z"]
            ),
        ]
    )
    func clockChanges(text: String, after: String, expected: [String]) throws {
        let zone = try berlin()
        let cron = try CronExpression(text)
        var instant = instant(after)
        var found: [String] = []
        for _ in expected {
            instant = try #require(cron.next(after: instant, zone))
            found.append(shown(instant))
        }
        #expect(found == expected)
    }

    @Test(
        "Mistakes",
        arguments: [
            ("", "is not a cron expression"), ("* * * *", "is not a cron expression"),
            ("60 * * * *", "60 is not a valid minute"), ("* 24 * * *", "24 is not a valid hour"),
            ("* * 0 * *", "0 is not a valid day"), ("* * * 13 *", "13 is not a valid month"),
            ("* * * * 8", "8 is not a valid weekday"), ("*/0 * * * *", "*/0 is not a valid minute"),
            ("5-1 * * * *", "5-1 is not a valid minute"), ("a * * * *", "a is not a valid minute"),
            ("1,,2 * * * *", " is not a valid minute"), ("+5 * * * *", "+5 is not a valid minute"),
            ("0 0 30 2 *", "never comes"), ("@yearly", "is not a cron expression"),
        ]
    )
    func mistakes(text: String, problem: String) {
        do {
            _ = try CronExpression(text)
            Issue.record("\(text) is read")
        } catch {
            #expect(error.problem == problem)
        }
    }
}
