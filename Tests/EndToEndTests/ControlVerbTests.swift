import Testing

@Suite("The verbs that ask a running agent, with the real programs", .timeLimit(.minutes(30)))
struct ControlVerbTests {
    @Test(
        "events prints what happened, log-level changes what is logged, without an agent both say so"
    )
    func eventsAndLogLevel() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        for verb in ["events", "log-level"] {
            let outcome = try await Programs.run("realm-agent", [verb] + files)
            #expect(outcome.status == 3)
            #expect(outcome.errors.contains("[agent.not_running]"))
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.sync("a")
                let events = try await Programs.run("realm-agent", ["events"] + files)
                #expect(events.status == 0)
                let lines = events.output.split(separator: "\n")
                #expect(lines.contains { $0.contains(#""state":"open""#) }, "\(events.output)")
                #expect(lines.allSatisfy { $0.contains(#""sequence":"#) })
                let none = try await Programs.run(
                    "realm-agent",
                    ["events", "--realm", "none"] + files
                )
                #expect(none.status == 2)

                let levels = try await Programs.run(
                    "realm-agent",
                    ["log-level", "debug", "Sync.Client"] + files
                )
                #expect(levels.output == "info\nSync.Client debug\n")
                let json = try await Programs.run("realm-agent", ["log-level", "--json"] + files)
                #expect(
                    json.output
                        == #"{"categories":{"Sync.Client":"debug"},"level":"info"}"# + "\n"
                )
                let wrong = try await Programs.run("realm-agent", ["log-level", "loud"] + files)
                #expect(wrong.status == 2)
            }
        }
    }

    @Test("Metrics count each changeset of local writes that the server has taken")
    func uploadedChangesets() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.sync("a")
                let before = try await uploaded(deployment)
                for key in 1...2 {
                    try await Programs.sqlite3(
                        deployment.file("a"),
                        "INSERT INTO \"Item\"(_id, owner) VALUES (\(key), 'x');"
                    )
                    try await deployment.sync("a")
                }
                #expect(try await uploaded(deployment) == before + 2)
            }
        }
    }

    private func uploaded(_ deployment: Deployment) async throws -> Int {
        let metrics = try await Programs.run(
            "curl",
            ["-s", "--unix-socket", "\(deployment.directory)/a.sock", "http://agent/v1/metrics"]
        ).output
        let name = #/realm_agent_uploaded_changesets_total\{realm="stock"\} (\d+)/#
        return try #require(metrics.firstMatch(of: name).flatMap { Int($0.1) }, "\(metrics)")
    }
}
