import TestSupport
import Testing

@testable import SQLiteServerStore

/// Sync history, 5 to 7 and 13 to 15; local realm, 4.
@Suite("Realm files and the server, over connections that delay and break")
struct RealmSimulationTests {
    @Test("have the same rows in the end, and so does the server")
    func convergence() async throws {
        var coverage = Simulation<RealmReplica>.Coverage()
        for seed in Seeds.some(12) {
            do {
                coverage += try await run(seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        #expect(coverage.mixedUploads > 0)
        #expect(coverage.repeatedUploads > 0)
        #expect(coverage.trimmedEntries > 0)
        #expect(coverage.serverRestarts > 0)
    }

    private func run(_ seed: UInt64) async throws -> Simulation<RealmReplica>.Coverage {
        let world = RandomWorld(seed: seed)
        let directory = try TemporaryDirectory()
        var simulation = Simulation(
            try await SimulatedServer(.file(path: directory.file("server.sqlite"))),
            // One of them learns the schema from the others.
            try (0..<3).map { try RealmReplica($0 == 0 ? nil : world.schema, in: world) },
            random: world.random
        )
        try await simulation.run(steps: 120)
        let expected = TableContents(try await simulation.server.contents())
        for (number, client) in simulation.clients.enumerated() {
            let contents = try TableContents(world.schema, client.connect())
            #expect(contents == expected, "seed \(seed), realm \(number)")
        }
        await simulation.server.close()
        return simulation.coverage
    }
}
