import Changesets
import Documents
import Scopes
import ServerFixtures
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// The requests that the engine makes of a store: a store may use or ignore all of their hints.
@Suite("Requests to the store", .timeLimit(.minutes(10)))
struct StoreRequestTests {
    /// A world whose store keeps its requests.
    private static func recorded() async throws -> (ServerFileWorld, RecordingStore) {
        let store = RecordingStore(try await .strictInMemory())
        let world = try await ServerFileWorld(store: store, isStrict: false)
        _ = store.takeRequests()
        return (world, store)
    }

    @Test("An upload tells its file, its size, its guard, and the rows that it is about")
    func upload() async throws {
        let (world, store) = try await Self.recorded()
        let client = try await world.client()
        try await world.upload([ServerTests.upload(2, on: 0)], by: client)
        _ = store.takeRequests()
        let changesets = [
            ServerTests.upload(3, on: 1, Tasks.create(7, title: "x")),
            ServerTests.upload(4, on: 1, Tasks.setTitle(8, "y")),
        ]
        let told = SessionGuard(
            client: ClientFileID(file: world.file, ident: client.ident),
            generation: 0,
            clientVersion: ClientVersion(2),
            sessionEpoch: client.sessionEpoch,
            newest: nil
        )
        _ = try await world.engine.integrate(
            Upload(
                client: client.ident,
                sessionEpoch: client.sessionEpoch,
                changesets: changesets,
                progress: uploadCursor(4, 1),
                lockedServerVersion: .zero
            ),
            into: world.file,
            guarding: told,
            policy: world.policy,
            by: SyncEngine.Uploader(id: ServerFileWorld.ann, app: ServerFileWorld.app),
            quotas: UserQuotas(historyBytes: 1 << 30)
        )
        // The second upload is about an object that does not exist: the whole is tried once more.
        let request = try #require(store.takeRequests().writes.first)
        #expect(request.scope == .file(world.file))
        #expect(request.owner == .user(ServerFileWorld.ann))
        #expect(request.session == told)
        #expect(request.sizeInBytes == changesets.reduce(0) { $0 + $1.bytes.count })
        #expect(
            request.reads
                == ExpectedReads(
                    file: .id(world.file),
                    client: client.ident,
                    hasSchema: true,
                    history: ExpectedReads.History(
                        after: ServerVersion(1),
                        reader: client.ident,
                        withReciprocals: true
                    ),
                    documents: [Tasks.object(7), Tasks.object(8)],
                    usage: ServerFileWorld.ann
                )
        )
    }

    @Test("Only an open that adds something or gives an ident is a write")
    func open() async throws {
        let (world, store) = try await Self.recorded()
        func open(needsFileIdent: Bool, declared: Bool = false) async throws -> SyncEngine.Opened {
            try await world.engine.open(
                .string("store-42"),
                of: ServerFileWorld.app,
                for: ServerFileWorld.ann,
                needsFileIdent: needsFileIdent,
                schema: declared ? try InMemoryRealm.tasks().schema : nil
            )
        }
        let first = try await open(needsFileIdent: true)
        #expect(first.assigned != nil)
        #expect(store.takeRequests().writes.count == 1)

        let again = try await open(needsFileIdent: false)
        #expect(again == SyncEngine.Opened(file: first.file, assigned: nil, published: nil))
        let requests = store.takeRequests()
        #expect(requests.writes.isEmpty)
        #expect(
            requests.reads.map(\.reads.file) == [
                .partition(ServerFileWorld.app, .string("store-42"))
            ]
        )

        #expect(try await open(needsFileIdent: false, declared: true).published == ServerVersion(1))
        #expect(store.takeRequests().writes.count == 1)
        #expect(try await open(needsFileIdent: false, declared: true).published == nil)
        #expect(store.takeRequests().writes.isEmpty)
    }

    // MARK: Hints and batches

    /// A file with everything that is stored about it, without the salts of versions, which differ from
    /// one store to the next.
    private struct Contents: Equatable {
        struct Entry: Equatable {
            let version: ServerVersion
            let origin: FileIdent
            let clientVersion: ClientVersion
            let timestamp: OriginTimestamp
            let changeset: [UInt8]
            let cumulativeSizeInBytes: UInt64
        }

        var currentVersion = ServerVersion.zero
        var historySizeInBytes: UInt64 = 0
        var entries: [Entry] = []
        var clients: [ClientFile] = []
        var reciprocals: [FileIdent: [ServerVersion: [UInt8]]] = [:]
        var counts: [Text: Int] = [:]
        var realm = InMemoryRealm()

        init(of world: ServerFileWorld) async throws {
            realm = try await world.realm()
            self = try await world.store.read { [self, id = world.file] snapshot in
                var contents = self
                if let file = try snapshot.file(id) {
                    contents.currentVersion = file.currentVersion
                    contents.historySizeInBytes = file.historySizeInBytes
                }
                // No client: all changesets are there.
                try snapshot.forEachEntry(
                    of: id,
                    after: .zero,
                    readBy: FileIdent(1_000_000)
                ) { entry in
                    contents.entries.append(
                        Entry(
                            version: entry.version.version,
                            origin: entry.origin,
                            clientVersion: entry.clientVersion,
                            timestamp: entry.timestamp,
                            changeset: entry.changeset,
                            cumulativeSizeInBytes: entry.cumulativeSizeInBytes
                        )
                    )
                    return .next
                }
                contents.clients = try snapshot.clientFiles(in: id)
                for client in contents.clients {
                    contents.reciprocals[client.ident] = try snapshot.reciprocals(
                        for: client.ident,
                        in: id,
                        after: .zero
                    )
                }
                contents.counts = try snapshot.objectCounts(in: id)
                return contents
            }
        }
    }

    @Test(
        "Uploads at once, with hints, leave what they leave one after the other without hints",
        arguments: StoreKind.allCases
    )
    func hintsAndBatches(kind: StoreKind) async throws {
        for seed in UInt64(1)...12 {
            try await kind.withStore { store in
                try await Self.compare(store, seed: seed)
            }
        }
    }

    private static func compare(_ store: any Store, seed: UInt64) async throws {
        let world = try await ServerFileWorld(store: store, isStrict: false, seed: seed)
        let plain = try await ServerFileWorld(
            store: PlainStore(try await .strictInMemory()),
            isStrict: false,
            seed: seed
        )
        var random = SplitMix64(seed: seed)
        var clients: [ModelClient] = []
        for _ in 0..<5 {
            let client = try await world.client()
            #expect(try await plain.client() == client)
            clients.append(ModelClient(client))
        }
        var time: UInt64 = 1000
        for _ in 0..<6 {
            for index in clients.indices {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    time += UInt64.random(in: 0...5, using: &random)
                    try clients[index].write(at: time, using: &random)
                }
            }
            let before = try await world.serverFile().currentVersion
            try await withThrowingDiscardingTaskGroup { group in
                for client in clients {
                    group.addTask { try await client.upload(to: world) }
                }
            }
            for origin in try await order(of: world, after: before, clients) {
                try await origin.upload(to: plain)
            }
            for index in clients.indices where Bool.random(using: &random) {
                _ = try await clients[index].downloadOnce(from: world)
            }
        }
        let contents = try await Contents(of: world)
        #expect(contents.entries.count > 10, "seed \(seed)")
        #expect(try await contents == Contents(of: plain), "seed \(seed)")
    }

    /// The clients in the order in which the store took their uploads; at the end those without any.
    private static func order(
        of world: ServerFileWorld,
        after version: ServerVersion,
        _ clients: [ModelClient]
    ) async throws -> [ModelClient] {
        let origins = try await world.store.read { [file = world.file] snapshot in
            var origins: [FileIdent] = []
            try snapshot.forEachEntry(
                of: file,
                after: version,
                readBy: FileIdent(1_000_000)
            ) { entry in
                if !origins.contains(entry.origin) { origins.append(entry.origin) }
                return .next
            }
            return origins
        }
        func place(_ client: ModelClient) -> Int {
            origins.firstIndex(of: client.file.ident) ?? origins.count
        }
        return clients.enumerated().sorted {
            (place($0.element), $0.offset) < (place($1.element), $1.offset)
        }.map(\.element)
    }
}

extension InMemoryRealm {
    /// The schema of `Tasks`, without objects.
    fileprivate static func tasks() throws -> InMemoryRealm {
        var realm = InMemoryRealm()
        try realm.apply(try Changeset(decoding: Tasks.schema))
        return realm
    }
}
