import Documents
import TestSupport
import Testing

@testable import SQLiteServerStore

/// Wire protocol, 10.2, 12 and 16; sync history, 5 to 7 and 13 to 15.
@Suite("Sessions over a network that delays, loses and half-closes, on a virtual clock")
struct SessionSimulationTests {
    @Test(
        "end with the same objects everywhere, everything acknowledged, and nothing pending"
    )
    func convergence() async throws {
        var coverage = SessionSimulation.Coverage()
        for seed in Seeds.some(60) {
            do {
                coverage += try await run(seed)
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        #expect(coverage.messages > 0)
        #expect(coverage.breaks > 0)
        #expect(coverage.halfOpen > 0)
        #expect(coverage.restarts > 0)
        #expect(coverage.fastReconnects > 0)
    }

    private func run(_ seed: UInt64) async throws -> SessionSimulation.Coverage {
        var random = SplitMix64(seed: seed)
        let count = Int.random(in: 2...4, using: &random)
        let simulation = SessionSimulation(
            try await SimulatedServer(.memory),
            clients: count,
            random: random
        )
        try await simulation.run(
            writes: Int.random(in: 3...20, using: &random),
            mishaps: Int.random(in: 0...6, using: &random)
        )
        let expected = try await simulation.contents()
        for (number, client) in simulation.clients.enumerated() {
            #expect(client.replica.realm == expected, "seed \(seed), client \(number)")
            #expect(client.isQuiet, "seed \(seed), client \(number)")
        }
        return simulation.coverage
    }
}
