import FoundationEssentials
import Testing

@Suite("Looking for faults, with the real programs", .timeLimit(.minutes(30)))
struct DoctorVerbTests {
    @Test(
        "doctor finds nothing wrong while all is well, then a missing trigger and a missing server"
    )
    func doctor() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a", user: .emailPassword)
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        try await deployment.withServer { _ in
            try await deployment.sync("a")
            let sound = try await Programs.run("realm-agent", ["doctor", "--json"] + files)
            #expect(sound.status == 0, "\(sound.output)")
            for check in [
                "permissions", "disk", "clock", "dns", "server", "token", "triggers", "wal",
            ] {
                #expect(
                    sound.output.contains(#""check":"\#(check)""#),
                    "\(check): \(sound.output)"
                )
            }
            #expect(sound.output.contains("agrees with the server's"), "\(sound.output)")
            let alone = try await bundle(of: deployment, "alone", files)
            #expect(alone.isSuperset(of: ["doctor.txt", "machine.txt", "schema-stock.sql"]))
            #expect(alone.contains("no-agent.txt"))
            try await deployment.withAgent("a") { _ in
                let whole = try await bundle(of: deployment, "whole", files)
                #expect(whole.isSuperset(of: ["status.json", "events.jsonl", "metrics.txt"]))
                #expect(!whole.contains("no-agent.txt"))
            }
        }
        let trigger = try await Programs.sqlite3(
            deployment.file("a"),
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' LIMIT 1;"
        ).trimmed
        try await Programs.sqlite3(deployment.file("a"), "DROP TRIGGER \"\(trigger)\";")
        let sick = try await Programs.run("realm-agent", ["doctor"] + files)
        #expect(sick.status == 1)
        #expect(sick.output.contains("trigger \(trigger) is missing; "), "\(sick.output)")
        #expect(sick.output.contains("PROBLEM  server  app: "), "\(sick.output)")
    }

    /// Makes one, looks for secrets in it, and tells the names of its files.
    private func bundle(
        of deployment: Deployment,
        _ name: String,
        _ files: [String]
    ) async throws -> Set<String> {
        let bundle = "\(deployment.directory)/\(name)"
        let written = try await Programs.run(
            "realm-agent",
            ["support-bundle", "--output", bundle] + files
        )
        #expect(written.status == 0, "\(written.errors)")
        let token = try await Programs.sqlite3(
            "\(deployment.directory)/a/private/metadata.sqlite",
            "SELECT refresh_token FROM user;"
        ).trimmed
        #expect(!token.isEmpty)
        let names = try FileManager.default.contentsOfDirectory(atPath: bundle)
        for name in names {
            let text = try String(contentsOfFile: "\(bundle)/\(name)", encoding: .utf8)
            for secret in [token, "correct horse", "user@example.com"] {
                #expect(!text.contains(secret), "\(name)")
            }
        }
        return Set(names)
    }
}

extension String {
    fileprivate var trimmed: String { filter { !$0.isWhitespace } }
}
