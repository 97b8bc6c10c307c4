import Changesets
import Documents
import FoundationEssentials
import Schemas
import TestSupport
import Testing
import Versions

@testable import ServerStore

/// Many clients of one file, who upload, download and come back in any order.
@Suite("Convergence", .timeLimit(.minutes(10)))
struct ConvergenceTests {
    private func run(seed: UInt64, clients count: Int, rounds: Int) async throws {
        let world = try await ServerFileWorld(downloadLimitInBytes: 2000, seed: seed)
        var random = SplitMix64(seed: seed)
        var clients: [ModelClient] = []
        for _ in 0..<count { clients.append(ModelClient(try await world.client())) }

        var time: UInt64 = 1000
        for _ in 0..<rounds {
            for index in clients.indices.shuffled(using: &random) {
                for _ in 0..<Int.random(in: 0...2, using: &random) {
                    // Clocks differ by more than the rounds do.
                    time += UInt64.random(in: 0...5, using: &random)
                    let skewed = time - UInt64.random(in: 0...200, using: &random)
                    try clients[index].write(at: skewed, using: &random)
                }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: break
                case 1: try await clients[index].upload(to: world)
                case 2: _ = try await clients[index].downloadOnce(from: world)
                default:
                    try await clients[index].upload(to: world)
                    // The answer is lost: it comes back and sends everything again.
                    try await clients[index].reconnect(to: world)
                    try await clients[index].upload(to: world)
                }
            }
        }
        for index in clients.indices { try await clients[index].upload(to: world) }
        for index in clients.indices {
            while try await !clients[index].downloadOnce(from: world) {}
        }
        let expected = try await world.realm()
        for client in clients {
            #expect(client.realm == expected, "seed \(seed), client \(client.file.ident.rawValue)")
        }
    }

    @Test("A few clients, many seeds", arguments: seeds)
    func fewClients(seed: UInt64) async throws {
        try await run(seed: seed, clients: 4, rounds: 5)
    }

    @Test("A hundred clients end with the server's objects")
    func manyClients() async throws {
        try await run(seed: 1, clients: 100, rounds: 2)
    }

    private static let seeds: ClosedRange<UInt64> = {
        let count = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap { UInt64($0) }
        return 1...(count ?? 40)
    }()
}
