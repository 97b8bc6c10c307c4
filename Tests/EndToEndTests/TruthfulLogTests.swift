import FoundationEssentials
import TestSupport
import Testing

@Suite("The last lines of the log are true")
struct TruthfulLogTests {
    /// Messages that the agent wrote, without their fields.
    private func messages(_ deployment: Deployment) -> [String] {
        // "TIME LEVEL CATEGORY: message field=…"
        deployment.log("a").split(separator: "\n").compactMap { line in
            line.split(separator: " ", maxSplits: 3).last.flatMap { text in
                text.firstMatch(of: /^([^=]*?)(?: [a-z_]+=|$)/).map { String($0.1) }
            }
        }
    }

    private func expectLast(
        _ message: String,
        of states: Set<String>,
        after count: Int,
        _ deployment: Deployment
    ) async {
        let isTrue = await eventually {
            let lines = messages(deployment).filter(states.contains)
            return lines.count > count && lines.last == message
        }
        #expect(isTrue, "\(message): \(deployment.log("a"))")
    }

    @Test(
        "A server that stops and returns twice within a minute leaves a log that ends in connected"
    )
    func connection() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let states: Set = ["connected", "not connected"]
        _ = try await deployment.withServer { _ in try await deployment.sync("a") }
        try await deployment.withAgent("a") { _ in
            for _ in 0..<3 {
                let before = messages(deployment).count { states.contains($0) }
                try await deployment.withServer { _ in
                    await expectLast("connected", of: states, after: before, deployment)
                }
                await expectLast("not connected", of: states, after: before, deployment)
            }
            try await deployment.withServer { _ in
                await expectLast("connected", of: states, after: 0, deployment)
            }
        }
    }

    @Test("A realm that is suspended and resumed twice within a minute leaves a log that shows it")
    func suspension() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.sync("a")
                for _ in 0..<2 {
                    for verb in ["suspend", "resume"] {
                        _ = try await Programs.run("realm-agent", [verb, "stock"] + files)
                    }
                }
            }
        }
        let lines = messages(deployment).filter { ["suspended", "resumed"].contains($0) }
        #expect(lines == ["suspended", "resumed", "suspended", "resumed"])
    }

    @Test(
        "After a log-out and a log-in the log shows the user logged in and the realm open",
        arguments: ["info", "warn"]
    )
    func logIn(level: String) async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a", user: .emailPassword)
        try deployment.setLogLevel(level, of: "a")
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        func users(_ verb: String) async throws {
            let outcome = try await Programs.run("realm-agent", ["users", verb, "a"] + files)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.sync("a")
                for _ in 0..<2 {
                    let closed = messages(deployment).count
                    try await users("logout")
                    let isClosed = await eventually {
                        messages(deployment).dropFirst(closed).contains("realm is not open")
                    }
                    #expect(isClosed, "\(deployment.log("a"))")
                    try await users("login")
                    let isOpen = await eventually {
                        messages(deployment).dropFirst(closed).contains("realm is open")
                    }
                    #expect(isOpen, "\(deployment.log("a"))")
                }
            }
        }
        let last = deployment.log("a").split(separator: "\n").last { $0.contains("log-in changed") }
        // At `warn` the log-out is not in the log, and so the log-in need not be.
        #expect(last.map { $0.contains("logged-in") } ?? (level == "warn"), "\(last ?? "")")
    }
}

extension Deployment {
    /// Replaces the level at which an agent's configuration has it log.
    fileprivate func setLogLevel(_ level: String, of agent: String) throws {
        let path = "\(directory)/\(agent).yaml"
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        try write("\(agent).yaml", text.replacing("level: info", with: "level: \(level)"))
    }
}
