import Changesets
import Documents
import Permissions
import Schemas
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import ServerStore
@testable import SyncServer

/// Clients with changing subscriptions and roles, offline writes and cut connections, against the
/// server's engine. `REALM_SEEDS` lengthens the runs.
@Suite("Views converge", .serialized)
struct ViewSimulationTests {
    @Test("Each view has the objects of its query, and each write is there or was reported")
    func simulation() async throws {
        var skipped = 0
        for seed in Self.seeds {
            var simulation = try await ViewSimulation(seed: seed)
            try await simulation.run(steps: 60)
            try await simulation.settle()
            skipped += simulation.skippedVersions
        }
        // The fan-out spares clients a part of the history.
        #expect(skipped > Self.seeds.count || Self.seeds.count < 20)
    }

    @Test("Messages of any length lead to the same objects")
    func splits() async throws {
        for seed in Self.seeds {
            var simulation = try await ViewSimulation(seed: seed)
            try await simulation.run(steps: 40)
            try await simulation.compareSplits()
        }
    }

    private static var seeds: Range<UInt64> { Seeds.some(60) }
}

/// One random history.
struct ViewSimulation {
    private let world: ViewWorld
    private let seed: UInt64
    private var random: SplitMix64
    private(set) var clients: [ViewClient] = []
    private var isConnected: [Bool] = []
    /// The wanted query of each client: sent when it is connected.
    private var wanted: [(version: UInt64, body: String)] = []
    /// Created objects with keys that no other client uses.
    private var created: [(client: Int, object: ObjectReference)] = []
    private var nextKey: Int64 = 1000
    private var timestamp: UInt64 = 1000

    init(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let limit = [1, 150, 600, 1 << 20].randomElement(using: &random) ?? 1
        self.world = try await ViewWorld(
            downloadLimitInBytes: limit,
            limits: ViewLimits(messageSizeInBytes: 400, changesetSizeInBytes: 150),
            seed: seed
        )
        self.seed = seed
        self.random = random
        for index in 0..<4 {
            clients.append(try await world.client(of: UserID(index % 2 == 0 ? "ann" : "bob")))
            isConnected.append(false)
            wanted.append((0, "{}"))
        }
    }

    /// Versions that clients did not have to scan.
    var skippedVersions: Int { world.skippedVersions.load(ordering: .relaxed) }

    mutating func run(steps: Int) async throws {
        for _ in 0..<steps { try await step() }
    }

    private mutating func step() async throws {
        let index = Int.random(in: 0..<clients.count, using: &random)
        timestamp += UInt64.random(in: 0...20, using: &random)
        switch Int.random(in: 0..<20, using: &random) {
        case 0...6:
            try write(index)
        case 7...8:
            wanted[index] = (wanted[index].version + 1, randomBody())
        case 9...12:
            guard isConnected[index] else { return try await connect(index, mayBeCut: true) }
            try await clients[index].upload(to: world)
        case 13...16:
            guard isConnected[index] else { return try await connect(index, mayBeCut: true) }
            try await download(index)
        case 17:
            guard isConnected[index] else { return }
            try await subscribe(index, mayBeCut: true)
        case 18:
            if isConnected[index], Bool.random(using: &random) {
                try await clients[index].loseDownload(from: world)
            }
            isConnected[index] = false
        default:
            world.setRoles(randomRoles())
            // Sessions are told to bind again.
            isConnected = isConnected.map { _ in false }
        }
    }

    // MARK: Sessions

    private mutating func connect(_ index: Int, mayBeCut: Bool) async throws {
        let completed = clients[index].completed.count
        let isCut = mayBeCut && Int.random(in: 0..<4, using: &random) == 0
        try await clients[index].connect(
            to: world,
            messages: isCut ? Int.random(in: 0..<3, using: &random) : .max
        )
        isConnected[index] = !isCut || clients[index].completed.count > completed
    }

    private mutating func subscribe(_ index: Int, mayBeCut: Bool) async throws {
        let (version, body) = wanted[index]
        guard version > clients[index].active.version else { return }
        // Writes before the subscription are uploaded before it.
        if Bool.random(using: &random) { try await clients[index].upload(to: world) }
        let isCut = mayBeCut && Int.random(in: 0..<3, using: &random) == 0
        try await clients[index].subscribe(
            body,
            as: version,
            at: world,
            messages: isCut ? Int.random(in: 0..<3, using: &random) : .max
        )
        if isCut {
            // Uploads behind the QUERY may still arrive.
            if Bool.random(using: &random), clients[index].active.version != version {
                try await clients[index].upload(to: world)
            }
            isConnected[index] = false
        }
    }

    private mutating func download(_ index: Int) async throws {
        var writes = Int.random(in: 0..<3, using: &random)
        var draws = random
        var made: [ObjectReference] = []
        var (key, time) = (nextKey, timestamp)
        _ = try await clients[index].downloadOnce(from: world) { client in
            // A program writes between two changesets of one message.
            guard writes > 0, Bool.random(using: &draws) else { return }
            writes -= 1
            time += 1
            if let object = try Self.write(&client, key, time, &draws) { made.append(object) }
            key += 1
        }
        (random, nextKey, timestamp) = (draws, key, time)
        created += made.map { (index, $0) }
    }

    // MARK: Writes

    private mutating func write(_ index: Int) throws {
        nextKey += 1
        timestamp += 1
        if let object = try Self.write(&clients[index], nextKey, timestamp, &random) {
            created.append((index, object))
        }
    }

    /// Returns an object that only this client can have made.
    private static func write(
        _ client: inout ViewClient,
        _ newKey: Int64,
        _ timestamp: UInt64,
        _ random: inout SplitMix64
    ) throws -> ObjectReference? {
        guard client.realm.schema["Person"] != nil else { return nil }
        let keys = client.objects["Person"].map { $0.keys.compactMap(\.number).sorted() } ?? []
        let before = client
        var made: ObjectReference?
        try client.write(at: timestamp) { writer in
            switch Int.random(in: 0..<10, using: &random) {
            case 0...2:
                made = ObjectReference(className: "Person", key: .int(newKey))
                create(newKey, &writer, &random)
            case 3:
                // The key of an object that it may not see.
                create(Int64.random(in: 0..<6, using: &random), &writer, &random)
            case 4:
                guard let key = keys.randomElement(using: &random) else { return }
                writer.eraseObject(ObjectReference(className: "Person", key: .int(key)))
            default:
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    guard let key = keys.randomElement(using: &random) else { return }
                    change(key, in: before, &writer, &random)
                }
            }
        }
        return made
    }

    private static func create(
        _ key: Int64,
        _ writer: inout ChangesetWriter,
        _ random: inout SplitMix64
    ) {
        let object = ObjectReference(className: "Person", key: .int(key))
        writer.createObject(object)
        writer.update(object, "age", to: .scalar(.int(Int64.random(in: 0..<6, using: &random))))
        let owner: Text = Bool.random(using: &random) ? "ann" : "bob"
        writer.update(object, "owner", to: .scalar(.string(owner)))
    }

    private static func change(
        _ key: Int64,
        in client: ViewClient,
        _ writer: inout ChangesetWriter,
        _ random: inout SplitMix64
    ) {
        let object = ObjectReference(className: "Person", key: .int(key))
        switch Int.random(in: 0..<4, using: &random) {
        case 0...1:
            writer.update(
                object,
                "age",
                to: .scalar(.int(Int64.random(in: 0..<6, using: &random)))
            )
        case 2:
            let name = Text("\(Int.random(in: 0..<1000, using: &random))")
            writer.update(object, "name", to: .scalar(.string(name)))
        default:
            guard case .list(let tags)? = client.value("tags", of: object) else { return }
            // Only the first change of a list in a changeset knows its size.
            writer.clear(object, "tags", .list)
            writer.arrayInsert(
                object,
                "tags",
                path: [.index(0)],
                .scalar(.string(Text("\(tags.count)"))),
                priorSize: 0
            )
        }
    }

    // MARK: Choices

    private mutating func randomBody() -> String {
        let query = [
            "TRUEPREDICATE", "age > 2", "age <= 3", "age == 1 OR age == 4", "owner == 'ann'",
            "owner == 'bob' AND age > 1", "name != ''", "_id < 4", "ANY tags == '0'",
        ].randomElement(using: &random)
        guard let query, Int.random(in: 0..<10, using: &random) > 0 else { return "{}" }
        return #"{"Person":"(\#(query))"}"#
    }

    private mutating func randomRoles() -> RoleDeclarations {
        let permissions: [RolePermission] = [
            .all, .matching("age > 1"), .matching("owner == $user.id"), .matching("age < 5"),
        ]
        let read = permissions.randomElement(using: &random)
        let write = permissions.randomElement(using: &random)
        return RoleDeclarations(standard: [
            RoleDeclaration(
                name: "role",
                read: read,
                write: Int.random(in: 0..<4, using: &random) == 0 ? .nothing : write,
                insert: Int.random(in: 0..<5, using: &random) == 0 ? .nothing : .all,
                fields: randomFields(),
                additionalFields: .all
            )
        ])
    }

    private mutating func randomFields() -> [Text: FieldPermission] {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: ["name": .nothing]
        case 1: ["tags": FieldPermission(read: true), "name": .nothing]
        case 2: ["age": FieldPermission(read: true)]
        default: [:]
        }
    }

    // MARK: The end

    /// Lets clients with unsynced writes receive the same history in messages of different lengths.
    mutating func compareSplits() async throws {
        // Copies of a client scan the same history several times.
        world.stopFanout()
        for index in clients.indices {
            try await connect(index, mayBeCut: false)
            try await subscribe(index, mayBeCut: false)
        }
        for _ in 0..<30 {
            let index = Int.random(in: 0..<clients.count, using: &random)
            try write(index)
            if Bool.random(using: &random) { try await clients[index].upload(to: world) }
        }
        for (index, client) in clients.enumerated() {
            var results: [[Text: [ObjectKey: Document]]] = []
            for limit in [1, 120, 300, 1 << 20] {
                var copy = client
                try await copy.downloadAll(from: world, limitInBytes: limit)
                results.append(copy.objects)
            }
            #expect(results.allSatisfy { $0 == results[0] }, "seed \(seed), client \(index)")
        }
    }

    /// Connects all clients, lets them sync, and compares.
    mutating func settle() async throws {
        for _ in 0..<3 {
            for index in clients.indices {
                try await connect(index, mayBeCut: false)
                try await subscribe(index, mayBeCut: false)
                try await clients[index].upload(to: world)
                try await clients[index].downloadAll(from: world)
            }
        }
        for (index, client) in clients.enumerated() {
            let expected = try await world.expectedRealm(client.active.body, of: client.user)
            #expect(
                client.objects == expected,
                "seed \(seed), client \(index), query \(client.active.body)"
            )
        }
        for (index, object) in created {
            let wasReported = clients[index].rejected.contains {
                $0.className == object.className.description && $0.key == object.key
            }
            let isKnown = try await world.hasEverHad(object)
            #expect(isKnown || wasReported, "seed \(seed), client \(index), \(object)")
        }
    }
}

extension ObjectKey {
    fileprivate var number: Int64? {
        if case .int(let value) = self { value } else { nil }
    }
}
