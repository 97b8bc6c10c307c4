import Config
import Settings
import Testing

@Suite("The difference of two configurations")
struct ConfigurationDifferenceTests {
    private static let base = """
        apps:
          one: { app_id: one, base_url: https://one.example.com }
          two: { app_id: two, base_url: https://two.example.com }
        users:
          a: { app: one, provider: anonymous }
          b: { app: two, provider: anonymous }
        realms:
          x: { user: a, partition: { string: x } }
          y: { user: b, partition: { string: y } }
          z: { user: b, partition: { string: z }, enabled: false }

        """

    private func difference(_ dropIn: String) throws -> ConfigurationDifference {
        let old = try #require(load(Self.base).configuration)
        let result = load(Self.base, dropIns: [("d/1.yaml", dropIn)])
        return ConfigurationDifference(from: old, to: try #require(result.configuration))
    }

    @Test("The same file means no change")
    func nothing() throws {
        let difference = try difference("")
        #expect(difference.applied == [])
        #expect(difference.needsRestart == [])
        #expect(difference.unchanged.contains("realms.x"))
        #expect(difference.realmsToStop == [])
        #expect(difference.realmsToStart == [])
    }

    @Test("An app takes its users and their realms along, and no others")
    func app() throws {
        let difference = try difference("apps: { one: { timeouts: { request: 5s } } }")
        #expect(difference.applied == ["apps.one", "users.a", "realms.x"])
        #expect(difference.appsToStop == ["one"])
        #expect(difference.usersToStop == ["a"])
        #expect(difference.realmsToStop == ["x"])
        #expect(difference.realmsToStart.map(\.name) == ["x"])
        #expect(difference.unchanged.contains("realms.y"))
    }

    @Test("A schedule alone leaves its realm connected")
    func schedule() throws {
        let difference = try difference("realms: { x: { schedule: { mode: manual } } }")
        #expect(difference.applied == ["realms.x"])
        #expect(difference.realmsToReschedule.map(\.name) == ["x"])
        #expect(difference.realmsToStop == [])
        #expect(difference.realmsToStart == [])
    }

    @Test("Realms come and go by being enabled")
    func enabled() throws {
        let difference = try difference("realms: { x: { enabled: false }, z: { enabled: true } }")
        #expect(difference.realmsToStop == ["x"])
        #expect(difference.realmsToStart.map(\.name) == ["z"])
        #expect(difference.usersToStop == [])
    }

    @Test("Settings that need a restart are reported; log levels do not need one")
    func restart() throws {
        let difference = try difference(
            "agent: { data_directory: /srv/x, log: { level: debug, output: stderr } }"
        )
        #expect(difference.needsRestart == ["agent.data_directory", "agent.log.output"])
        #expect(difference.applied.contains("agent.log.level"))
    }
}

@Suite("The configuration as text")
struct ConfigurationTextTests {
    private func text(_ main: String, _ dropIn: String, origins: Bool) -> String {
        ConfigurationParser.text(
            main: ConfigurationSource(file: "m.yaml", bytes: Array(main.utf8)),
            dropIns: [ConfigurationSource(file: "d.yaml", bytes: Array(dropIn.utf8))],
            withOrigins: origins
        )
    }

    @Test("Merged, with the place of each value, and without what may be secret")
    func shown() {
        let main = "apps: { shop: { app_id: 'x y', headers: { X-Key: hunter2, Y: { env: E } } } }"
        let dropIn = "apps: { shop: { app_id: z } }\nrealms: { r: { on_error: [a, b] } }"
        #expect(
            text(main, dropIn, origins: false) == """
                apps:
                  shop:
                    app_id: z
                    headers:
                      X-Key: <redacted>
                      Y:
                        env: E
                realms:
                  r:
                    on_error:
                      - a
                      - b

                """
        )
        #expect(text(main, "", origins: true).contains("app_id: \"x y\"  # m.yaml:1:25\n"))
        #expect(text(main, dropIn, origins: true).contains("app_id: z  # d.yaml:1:25\n"))
        #expect(!text(main, dropIn, origins: true).contains("hunter2"))
    }

    @Test("What is shown loads as the same configuration")
    func roundTrip() throws {
        let shown = text(completeExample, "", origins: true)
        let before = try #require(load(completeExample).configuration)
        #expect(load(shown).diagnostics.filter { $0.severity == .error } == [])
        var after = try #require(load(shown).configuration)
        // A header may be a secret, and is not shown.
        after.apps = before.apps
        #expect(after.realms.map(\.schedule) == before.realms.map(\.schedule))
        #expect(after.plugins == before.plugins)
        #expect(after.daemon == before.daemon)
    }
}
