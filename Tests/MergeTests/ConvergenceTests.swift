import Changesets
import Documents
import FoundationEssentials
import Merge
import Schemas
import TestSupport
import Testing

/// Peers that change one realm at the same time end in the same state, in any order of exchange.
/// `RandomTransactions` leaves out the known exceptions by name.
///
/// `REALM_SEEDS` sets the number of histories.
@Suite("Convergence")
struct ConvergenceTests {
    static let seeds =
        ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap(UInt64.init) ?? 150

    @Test("Clients and server have the same realm in the end", arguments: [2, 3, 4])
    func convergence(clients: Int) throws {
        var merged = 0
        for seed in 0..<Self.seeds {
            do {
                var scene = try Scene(seed: seed, clients: clients)
                for _ in 0..<3 {
                    try scene.run(steps: 20)
                    try scene.settle()
                    for client in scene.clients {
                        let isSame = client.realm == scene.server.realm
                        #expect(isSame, "seed \(seed)")
                    }
                }
                merged += scene.server.version
            } catch {
                Issue.record("seed \(seed): \(error)")
            }
        }
        print("convergence: \(Self.seeds) histories of \(clients) clients, \(merged) changesets")
    }

    /// Some clients and a server that act in random order.
    struct Scene {
        var clients: [ModelClient]
        var server: ModelServer
        private var random: SplitMix64
        private var settled: InMemoryRealm
        private let focus: Set<Text>
        private let mixedUse: RandomTransactions.MixedUse
        private var time: UInt64 = 100

        init(seed: UInt64, clients count: Int) throws {
            random = SplitMix64(seed: seed)
            settled = InMemoryRealm()
            try settled.apply(try RandomTransactions.baseChangeset)
            let base = settled
            let properties = base.schema["Thing"]?.properties.map(\.name) ?? []
            focus = Set(properties.shuffled(using: &random).prefix(2))
            let uses = RandomTransactions.MixedUse.allCases.filter { count == 2 || $0 != .free }
            mixedUse = uses.randomElement(using: &random) ?? .oneCreator
            server = ModelServer(realm: base)
            clients = (0..<count).map { ModelClient(ident: UInt64($0 + 2), realm: base) }
        }

        mutating func run(steps: Int) throws {
            for _ in 0..<steps {
                let number = Int.random(in: clients.indices, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1, 2: try commit(number)
                case 3: try upload(number)
                default: try download(number)
                }
            }
        }

        private mutating func commit(_ number: Int) throws {
            // Clocks differ, but none runs backwards.
            time += UInt64.random(in: 0..<5, using: &random)
            var transactions = RandomTransactions(
                seed: random.next(),
                peer: number,
                settled: settled,
                focus: focus,
                mixedUse: mixedUse
            )
            let (changeset, _) = try transactions.transaction(on: clients[number].realm)
            guard !changeset.instructions.isEmpty else { return }
            try clients[number].commit(changeset, bytes: changeset.encoded(), time: time)
        }

        /// Some changesets that the server lacks, and perhaps some that it has.
        private mutating func upload(_ number: Int) throws {
            let client = clients[number]
            let known = server.integratedVersion(of: client.ident)
            let uploads = client.uploads(after: Bool.random(using: &random) ? known : 0)
            let count = Int.random(in: 0...uploads.count, using: &random)
            try server.integrate(Array(uploads.prefix(count)), from: client.ident)
        }

        /// Some changesets that the client lacks, at once or in pieces.
        private mutating func download(_ number: Int) throws {
            let client = clients[number]
            let downloads = server.downloads(for: client.ident, after: client.serverVersion)
            let count = Int.random(in: 0...downloads.count, using: &random)
            let batch = Array(downloads.prefix(count))
            if Bool.random(using: &random) {
                try clients[number].integrate(batch)
            } else {
                for download in batch { try clients[number].integrate([download]) }
            }
        }

        /// Exchanges everything among all peers.
        mutating func settle() throws {
            for client in clients {
                let known = server.integratedVersion(of: client.ident)
                try server.integrate(client.uploads(after: known), from: client.ident)
            }
            for number in clients.indices {
                let client = clients[number]
                try clients[number].integrate(
                    server.downloads(for: client.ident, after: client.serverVersion)
                )
            }
            settled = server.realm
        }
    }
}
