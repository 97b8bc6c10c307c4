import Documents
import SyncProtocol
import TestSupport
import Testing

@testable import SQLiteServerStore

/// Sync history, 5 to 7 and 13 to 15; merge rules, 2 and 8.
@Suite("Model clients and the server, over connections that delay and break")
struct ModelSimulationTests {
    @Test("have the same objects in the end, and so does the server")
    func convergence() async throws {
        var coverage = Simulation<ModelReplica>.Coverage()
        for seed in Seeds.some(60) {
            do {
                coverage += try await run(seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        // Each of these is what the simulation is for, so none may be missing.
        #expect(coverage.mixedUploads > 0)
        #expect(coverage.mixedDownloads > 0)
        #expect(coverage.lostUploads > 0)
        #expect(coverage.repeatedUploads > 0)
        #expect(coverage.zombieUploads > 0)
        #expect(coverage.clientReciprocals > 0)
        #expect(coverage.serverReciprocals > 0)
        #expect(coverage.trimmedEntries > 0)
        #expect(coverage.serverRestarts > 0)
        #expect(coverage.snapshots > 0)
        #expect(coverage.trimmedVersions > 0)
    }

    @Test("start over once sync is terminated, with exactly the objects that the server kept")
    func termination() async throws {
        for seed in Seeds.some(30) {
            do {
                try await terminate(seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
    }

    private func terminate(_ seed: UInt64) async throws {
        var simulation = Simulation(
            try await SimulatedServer(.memory),
            (0..<2).map { ModelReplica(number: $0) },
            random: SplitMix64(seed: seed)
        )
        try await simulation.run(steps: 80)
        let expected = try await simulation.server.contents()
        try await simulation.server.terminate()
        await #expect(throws: SessionFault.badClientFileIdent, "seed \(seed)") {
            let client = simulation.clients[0]
            _ = try await simulation.server.identify(client.fileIdent, client.progress)
        }
        var afterwards = Simulation(
            simulation.server,
            [ModelReplica(number: 2)],
            random: SplitMix64(seed: seed)
        )
        try await afterwards.run(steps: 0)
        #expect(afterwards.clients[0].realm == expected, "seed \(seed)")
        let kept = try await simulation.server.contents()
        #expect(kept == expected, "seed \(seed)")
    }

    private func run(_ seed: UInt64) async throws -> Simulation<ModelReplica>.Coverage {
        var random = SplitMix64(seed: seed)
        let count = Int.random(in: 2...4, using: &random)
        let steps = Int.random(in: 40...160, using: &random)
        var simulation = Simulation(
            try await SimulatedServer(.memory),
            (0..<count).map { ModelReplica(number: $0) },
            random: random
        )
        try await simulation.run(steps: steps)
        let expected = try await simulation.server.contents()
        for (number, client) in simulation.clients.enumerated() {
            #expect(client.realm == expected, "seed \(seed), client \(number)")
        }
        return simulation.coverage
    }
}
