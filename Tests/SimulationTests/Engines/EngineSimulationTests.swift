import Documents
import TestSupport
import Testing

/// Claims across the specifications: wire protocol 10 to 12, sync history 3 to 7 and 13 to 17,
/// local realm 4 to 6, all of them together.
@Suite(
    "Agents with realm files and the server with its store, on a virtual clock and network"
)
struct EngineSimulationTests {
    @Test("end with the same rows everywhere, no write lost or doubled, and nothing left running")
    func convergence() async throws {
        var coverage = EngineSimulation.Coverage()
        let seeds = Seeds.some(20)
        for seed in seeds {
            do {
                coverage += try await EngineTrial(seed: seed).run()
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        print("\(seeds.count) seeds: \(coverage)")
        #expect(coverage.writes > 0)
        #expect(coverage.connections > 0)
    }
}

@Suite("A seed")
struct SimulationSeedTests {
    @Test("happens the same way each time, event by event", arguments: [1, 3, 5] as [UInt64])
    func repeats(seed: UInt64) async throws {
        let runs = [SimulationTrace.Record(), SimulationTrace.Record()]
        for record in runs { _ = try await ResetTrial(seed: seed, record: record).run() }
        let (first, second) = (runs[0].lines, runs[1].lines)
        let same = zip(first, second).prefix { $0 == $1 }.count
        #expect(first.count > 100)
        #expect(first.dropFirst(same).first == second.dropFirst(same).first, "event \(same)")
    }
}

/// One seed from the first write to the last check.
struct EngineTrial: Sendable {
    let seed: UInt64
    var record: SimulationTrace.Record?

    func run() async throws -> EngineSimulation.Coverage {
        var random = SplitMix64(seed: seed)
        let simulation = try EngineSimulation(
            seed: random.next(),
            .init(clients: Int.random(in: 2...4, using: &random), record: record)
        )
        let writes = Int.random(in: 3...15, using: &random)
        let mishaps = Int.random(in: 0...8, using: &random)
        let script = simulation.script(writes: writes, mishaps: mishaps, using: &random)
        return try await simulation.time.run { [random] in
            var random = random
            var ledger = Ledger()
            try await simulation.server.start()
            for machine in simulation.machines { machine.start() }
            let coverage = try await simulation.play(script, &ledger, using: &random)
            try await simulation.settle()
            try await check(simulation, ledger)
            try await simulation.stop()
            return coverage
        }
    }

    private func check(_ simulation: EngineSimulation, _ ledger: Ledger) async throws {
        let process = try #require(simulation.server.process)
        let realm = try await process.store.contents()
        let faults = LedgerAudit(realm).faults(in: ledger)
        #expect(faults.isEmpty, "seed \(seed): \(faults.joined(separator: "; "))")
        guard ledger.writeCount > 0 else { return }
        let expected = TableContents(realm)
        for machine in simulation.machines {
            let contents = try simulation.contents(of: machine, realm.schema)
            #expect(contents == expected, "seed \(seed), client \(machine.number)")
        }
    }
}
