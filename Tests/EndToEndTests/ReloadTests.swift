import FoundationEssentials
import Glibc
import Subprocess
import TestSupport
import Testing

@Suite("Configuration and schedules of a running agent", .serialized, .timeLimit(.minutes(30)))
struct ReloadTests {
    private func agent(_ deployment: Deployment, _ verb: [String]) async throws -> Programs.Outcome
    {
        try await Programs.run(
            "realm-agent",
            verb + ["--config", "\(deployment.directory)/north.yaml"]
        )
    }

    private func dropIn(_ deployment: Deployment, _ text: String) throws {
        try FileManager.default.createDirectory(
            atPath: "\(deployment.directory)/north.d",
            withIntermediateDirectories: true
        )
        try deployment.write("north.d/10.yaml", text)
    }

    @Test("A reload applies the differences; a bad file changes nothing and is reported")
    func reload() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { daemon in
                let isOpen = try await eventually {
                    try await agent(deployment, ["status"]).output.contains(" open ")
                }
                #expect(isOpen, "\(deployment.log("north"))")

                let same = try await agent(deployment, ["reload"])
                #expect(same.status == 0, "\(same.errors)")
                #expect(same.output == "nothing has changed\n")

                try dropIn(deployment, "realms: { stock: { schedul: {} } }")
                let refused = try await agent(deployment, ["reload"])
                #expect(refused.status == 2)
                #expect(refused.errors.contains("north.d/10.yaml:1:20"), "\(refused.errors)")
                #expect(try await agent(deployment, ["check"]).status == 2)
                // What asks the agent that runs has no need of the file that it refused.
                let status = try await agent(deployment, ["status"])
                #expect(status.status == 0, "\(status.errors)")

                // A signal reads the file, too, and the agent continues as before. The mistake is another
                // one, so that what the log says of it cannot be from the command.
                try dropIn(deployment, "realms: { stock: { scheduel: {} } }")
                daemon.signal(.terminalClosed)
                let isTold = await eventually {
                    deployment.log("north").contains("scheduel")
                }
                #expect(isTold)

                try dropIn(
                    deployment,
                    "realms: { stock: { schedule: { mode: manual } } }\nagent: { log: { level: debug } }"
                )
                let applied = try await agent(deployment, ["reload"])
                #expect(applied.status == 0, "\(applied.errors)")
                #expect(applied.output == "applied: agent.log.level\napplied: realms.stock\n")
                // The first, the one that changed nothing, and this one; not those that were refused.
                let report = try await agent(deployment, ["status", "--json"]).output
                #expect(report.contains(#""generation":3"#), "\(report)")
                let events = try await agent(deployment, ["events"]).output
                #expect(events.contains("\"event\":\"reloaded\""), "\(events)")
                let isPaused = try await eventually {
                    try await agent(deployment, ["status"]).output.contains("manual-mode")
                }
                #expect(isPaused, "\(deployment.log("north"))")

                // Who asks for it may sync in any mode.
                try await Programs.sqlite3(
                    deployment.file("north"),
                    "INSERT INTO \"Item\"(_id, owner) VALUES (7, 'x');"
                )
                let sync = try await deployment.sync("north")
                #expect(sync.status == 0, "\(sync.errors)")
            }
        }
    }

    @Test("A refresh syncs once and pauses; outside its windows a realm waits")
    func schedules() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try dropIn(
            deployment,
            "realms: { stock: { schedule: { mode: refresh, refresh: \"0 0 1 1 *\" } } }"
        )
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                let isPaused = try await eventually {
                    try await agent(deployment, ["status", "--json"]).output
                        .contains("refresh-interval")
                }
                #expect(isPaused, "\(deployment.log("north"))")
                let status = try await agent(deployment, ["status", "--json"]).output
                #expect(status.contains("\"next_opening\":\"2"), "\(status)")
                #expect(status.contains("\"first_download_finished\":true"), "\(status)")
            }
        }
    }

    @Test("The configuration is shown with its origins, and its schema printed")
    func show() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try dropIn(deployment, "agent: { log: { level: warn } }")
        let shown = try await agent(deployment, ["config", "show", "--origin"])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(
            shown.output.contains("level: warn  # \(deployment.directory)/north.d/10.yaml:1:24")
        )
        let schema = try await Programs.run("realm-agent", ["config", "schema"])
        #expect(schema.output.contains("\"https://json-schema.org/draft/2020-12/schema\""))
    }

    // MARK: What does not change

    /// Two realms of one user, and one of a user with connections of their own; the partition of one
    /// comes from the environment, that of another from the user.
    private static let three = """
        apps:
          apart: { app_id: test-app, base_url: "URL", share_connections: false }
        users:
          other: { app: apart, provider: anonymous }
        realms:
          stock: { partition: { string: "${env.SITE}-stock" } }
          side: { user: north, partition: { string: "${user.id}" } }
          lone: { user: other, partition: { string: lone } }

        """

    private func configureThree(_ deployment: Deployment, _ more: String = "") throws {
        let url = "http://127.0.0.1:\(deployment.port)"
        try dropIn(deployment, Self.three.replacing("URL", with: url))
        try deployment.write("north.d/20.yaml", more)
    }

    /// Each realm's events so far.
    private func events(_ deployment: Deployment) async throws -> [String: Int] {
        let output = try await agent(deployment, ["events"]).output
        var counts: [String: Int] = [:]
        for match in output.matches(of: /"realm":"([a-z]+)"/) {
            counts[String(match.1), default: 0] += 1
        }
        return counts
    }

    private func connections(_ deployment: Deployment) -> Int {
        deployment.log("north").matches(of: #/ connected /#).count
    }

    private func allAreOpen(_ deployment: Deployment) async throws -> Bool {
        try await eventually {
            let status = try await agent(deployment, ["status", "--json"]).output
            return status.matches(of: /"state":"open"/).count == 3
        }
    }

    @Test(
        "Realms that a reload does not concern keep session and connection, and templates their values"
    )
    func unchangedRealms() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try configureThree(deployment)
        setenv("SITE", "hall", 1)
        defer { unsetenv("SITE") }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                let areOpen = try await allAreOpen(deployment)
                #expect(areOpen, "\(deployment.log("north"))")
                let status = try await agent(deployment, ["status", "--json"]).output
                #expect(status.contains(#""partition":"\"hall-stock\"""#), "\(status)")
                let before = try await events(deployment)
                #expect(connections(deployment) == 2)

                let same = try await agent(deployment, ["reload"])
                #expect(same.output == "nothing has changed\n", "\(same.output)")

                // One realm differs, the thresholds of the network, and what only a start can change.
                try configureThree(
                    deployment,
                    """
                    realms: { side: { capture: { delay: 30ms } } }
                    network: { poor: { rtt_above: 2s } }
                    agent: { control_group: root }
                    """
                )
                let reload = try await agent(deployment, ["reload", "--json"])
                #expect(reload.status == 0, "\(reload.errors)")
                for member in [
                    #""applied":["network","realms.side"]"#,
                    #""needs_restart":["agent.control_group"]"#,
                ] {
                    #expect(reload.output.contains(member), "\(reload.output)")
                }
                for path in ["realms.stock", "realms.lone", "users.north", "users.other"] {
                    #expect(reload.output.contains("\"\(path)\""), "\(reload.output)")
                }
                let areOpenAgain = try await allAreOpen(deployment)
                #expect(areOpenAgain, "\(deployment.log("north"))")
                let after = try await events(deployment)
                #expect(after["stock"] == before["stock"])
                #expect(after["lone"] == before["lone"])
                #expect(connections(deployment) == 2, "\(deployment.log("north"))")
                try await expectOldEnvironment(deployment)
            }
        }
    }

    /// A reload uses the variables of the agent's start, not those of the caller.
    private func expectOldEnvironment(_ deployment: Deployment) async throws {
        for value in ["yard", nil] {
            if let value { setenv("SITE", value, 1) } else { unsetenv("SITE") }
            let reload = try await agent(deployment, ["reload"])
            #expect(reload.output == "needs a restart: agent.control_group\n", "\(reload)")
            let status = try await agent(deployment, ["status", "--json"])
            #expect(status.output.contains(#""partition":"\"hall-stock\"""#), "\(status)")
        }
        let text = #"realms: { side: { partition: { string: "${env.NOWHERE}" } } }"#
        setenv("NOWHERE", "known to the caller", 1)
        defer { unsetenv("NOWHERE") }
        try deployment.write("north.d/20.yaml", text)
        let refused = try await agent(deployment, ["reload"])
        #expect(refused.status == 2)
        #expect(refused.errors.contains(#"no variable "NOWHERE""#), "\(refused.errors)")
    }
}
