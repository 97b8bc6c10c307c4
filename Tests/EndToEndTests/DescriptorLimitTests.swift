import Platform
import Testing

@Suite("The agent's limit of open files", .serialized, .timeLimit(.minutes(20)))
struct DescriptorLimitTests {
    private func withAgent(
        softLimit: Int,
        hardLimit: Int,
        _ body: (ResetWorld, Deployment.Daemon) async throws -> Void
    ) async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let limit = ["/usr/bin/prlimit", "--nofile=\(softLimit):\(hardLimit)"]
        try await world.deployment.withAgent("north", through: limit) { agent in
            try await body(world, agent)
        }
    }

    @Test("The soft limit is raised to the hard one")
    func raised() async throws {
        try await withAgent(softLimit: 64, hardLimit: 512) { world, agent in
            let limits = try #require(KernelFile.text(at: "/proc/\(agent.pid)/limits"))
            let line = try #require(
                limits.split(separator: "\n").first { $0.hasPrefix("Max open files") }
            )
            #expect(line.split(separator: " ").compactMap { Int($0) } == [512, 512])
            #expect(!world.deployment.log("north").contains("agent.few_descriptors"))
        }
    }

    @Test("The log warns of a limit that is too low for the configured realms, with a remedy")
    func few() async throws {
        try await withAgent(softLimit: 48, hardLimit: 48) { world, _ in
            let log = world.deployment.log("north")
            #expect(
                log.contains("few file descriptors code=agent.few_descriptors limit=48"),
                "\(log)"
            )
            #expect(log.contains("needed=70"), "\(log)")
            #expect(log.contains("`systemctl edit realm-agent`"), "\(log)")
        }
    }
}
