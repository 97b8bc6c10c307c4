import FoundationEssentials
import Testing

@Suite("Schedules of a running agent, on a clock of their own")
struct ScheduleClockTests {
    /// A realm whose window closes at ten, one whose window opens then, and one that refreshes then.
    private static let schedules = """
        realms:
          stock:
            schedule: { windows: ["21:00-22:00"], timezone: UTC }
          night:
            user: north
            partition: { string: night }
            schedule: { windows: ["22:00-23:00"], timezone: UTC }
          daily:
            user: north
            partition: { string: daily }
            schedule: { mode: refresh, refresh: "0 22 * * *", timezone: UTC }
        """

    private func verb(_ deployment: Deployment, _ verb: String...) async throws -> String {
        try await Programs.run(
            "realm-agent",
            verb + ["--config", "\(deployment.directory)/north.yaml"]
        ).output
    }

    private func events(_ deployment: Deployment, of realm: String) async throws -> [String] {
        try await verb(deployment, "events", "--realm", realm).split(separator: "\n").map(
            String.init
        )
    }

    private func wait(
        _ deployment: Deployment,
        for words: String,
        of realm: String,
        after count: Int = 0
    ) async throws {
        var lines: [String] = []
        let isSo = try await eventually {
            lines = try await events(deployment, of: realm)
            return lines.dropFirst(count).contains { $0.contains(words) }
        }
        try #require(isSo, "\(realm) \(words): \(lines) \(deployment.log("north"))")
    }

    /// How far the clock has to be set so that it shows the time of a day that is over.
    private static func offset(secondOfDay: Int, daysAgo: Int) -> Int {
        let now = Int(Date().timeIntervalSince1970)
        return now / 86_400 * 86_400 - daysAgo * 86_400 + secondOfDay - now
    }

    @Test(
        "Windows open and close, a refresh comes at its instant, and what was missed is made up for",
        .enabled(if: FakeClock.obstacle == nil, "\(FakeClock.obstacle ?? "")")
    )
    func evening() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try FileManager.default.createDirectory(
            atPath: "\(deployment.directory)/north.d",
            withIntermediateDirectories: true
        )
        try deployment.write("north.d/10.yaml", Self.schedules)
        let isOpen = #""state":"open""#
        let window = #""cause":"schedule-window""#
        let interval = #""cause":"refresh-interval""#
        try await deployment.withServer { _ in
            // Twelve seconds before ten in the evening, three days ago.
            let evening = Self.offset(secondOfDay: 22 * 3_600 - 12, daysAgo: 3)
            try await deployment.withAgent(
                "north",
                through: FakeClock.wrapper(offsetInSeconds: evening)
            ) { _ in
                try await wait(deployment, for: isOpen, of: "stock")
                try await wait(deployment, for: window, of: "night")
                // The first refresh comes at once, since there has never been one.
                try await wait(deployment, for: interval, of: "daily")
                let count = try await events(deployment, of: "daily").count
                try await wait(deployment, for: window, of: "stock")
                try await wait(deployment, for: isOpen, of: "night")
                try await wait(deployment, for: isOpen, of: "daily", after: count)
                try await wait(deployment, for: interval, of: "daily", after: count)
            }
            // Half an hour later nothing is due.
            let later = Self.offset(secondOfDay: 22 * 3_600 + 1_800, daysAgo: 3)
            try await deployment.withAgent(
                "north",
                through: FakeClock.wrapper(offsetInSeconds: later)
            ) { _ in
                try await wait(deployment, for: isOpen, of: "night")
                let daily = try await events(deployment, of: "daily")
                #expect(daily.contains { $0.contains(interval) }, "\(daily)")
                #expect(!daily.contains { $0.contains(isOpen) }, "\(daily)")
            }
            // The day after, the agent starts too late for that day's refresh: it is made up for.
            let morning = Self.offset(secondOfDay: 22 * 3_600 + 5_400, daysAgo: 2)
            try await deployment.withAgent(
                "north",
                through: FakeClock.wrapper(offsetInSeconds: morning)
            ) { _ in
                try await wait(deployment, for: isOpen, of: "daily")
                try await wait(deployment, for: interval, of: "daily")
                try await wait(deployment, for: window, of: "stock")
                try await wait(deployment, for: window, of: "night")
            }
        }
    }
}
