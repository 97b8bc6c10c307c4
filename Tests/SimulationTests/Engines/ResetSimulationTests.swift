import Documents
import Schemas
import TestSupport
import Testing

/// Client reset, 2 to 9 and 11 to 13.
@Suite("Agents and the server, with client resets at random moments")
struct ResetSimulationTests {
    @Test("end alike, and every committed write is on the server or in a kept file")
    func nothingIsLost() async throws {
        var coverage = EngineSimulation.Coverage()
        var exportCount = 0
        let seeds = Seeds.some(20)
        for seed in seeds {
            do {
                let result = try await ResetTrial(seed: seed).run()
                coverage += result.coverage
                exportCount += result.exportCount
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        print("\(seeds.count) seeds: \(coverage), \(exportCount) exports")
        #expect(coverage.writes > 0)
        #expect(exportCount > 0 || seeds.count == 1)
    }

    /// 703 and 949: the agent stops while a reset by hand downloads. 1308: the server is put back from a
    /// backup, and has lost an UPLOAD that made no version.
    @Test("settle with seeds that once did not", arguments: [703, 949, 1308] as [UInt64])
    func settles(seed: UInt64) async throws {
        let result = try await ResetTrial(seed: seed).run()
        #expect(result.coverage.writes > 0)
    }
}

/// One seed from the first write to the last check.
struct ResetTrial: Sendable {
    let seed: UInt64
    var record: SimulationTrace.Record?

    typealias Result = (coverage: EngineSimulation.Coverage, exportCount: Int)

    private static let modes = [
        "recover-unsynced-changes", "recover-or-discard-unsynced-changes",
        "discard-unsynced-changes", "manual",
    ]

    func run() async throws -> Result {
        var random = SplitMix64(seed: seed)
        let simulation = try EngineSimulation(
            seed: random.next(),
            .init(
                clients: Int.random(in: 2...3, using: &random),
                resetMode: Self.modes[Int.random(in: 0..<4, using: &random)],
                allowsRecovery: Int.random(in: 0..<5, using: &random) > 0,
                record: record
            )
        )
        let script = simulation.script(
            writes: Int.random(in: 3...12, using: &random),
            mishaps: Int.random(in: 0...5, using: &random),
            resets: Int.random(in: 1...3, using: &random),
            using: &random
        )
        return try await simulation.time.run { [random] in
            var random = random
            var ledger = Ledger()
            try await simulation.server.start()
            for machine in simulation.machines { machine.start() }
            let coverage = try await simulation.play(script, &ledger, using: &random)
            try await simulation.settle()
            let exportCount = try await check(simulation, ledger)
            try await simulation.stop()
            return (coverage, exportCount)
        }
    }

    private func check(_ simulation: EngineSimulation, _ ledger: Ledger) async throws -> Int {
        let process = try #require(simulation.server.process)
        let realm = try await process.store.contents()
        let exports = try simulation.machines.map { try ResetExports(in: $0.recoveredDirectory) }
        let losses = LedgerAudit(realm).losses(in: ledger, exports: exports)
        #expect(losses.isEmpty, "seed \(seed): \(losses.joined(separator: "; "))")
        guard !realm.schema.classes.isEmpty else { return 0 }
        let expected = TableContents(realm)
        for machine in simulation.machines {
            let contents = try simulation.contents(of: machine, realm.schema)
            #expect(contents == expected, "seed \(seed), client \(machine.number)")
        }
        return exports.reduce(0) { $0 + $1.fileCount }
    }
}
