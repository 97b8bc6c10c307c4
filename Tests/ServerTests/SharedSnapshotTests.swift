import Changesets
import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Server on PostgreSQL, 6.5.
@Suite(
    "Snapshots of several processes",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct SharedSnapshotTests {
    private let database: TestDatabase

    init() throws {
        database = try PostgreSQLStores.database()
    }

    /// The engine of another process on the same file.
    private func process(_ store: any Store) -> SyncEngine {
        SyncEngine(
            store: store,
            clock: ManualClock().wallClock,
            random: .seeded(7),
            downloadLimitInBytes: 1,
            snapshots: Self.policy
        )
    }

    private static let policy = SnapshotPolicy(
        historySizeInBytes: 1,
        ratio: 1,
        changesetSizeInBytes: 60
    )

    private func world(_ store: any Store) async throws -> ServerFileWorld {
        let world = try await ServerFileWorld(
            downloadLimitInBytes: 1,
            snapshots: Self.policy,
            store: store,
            isStrict: false
        )
        let writer = try await world.client()
        try await world.upload([upload(2, on: 0)], by: writer)
        try await world.upload(
            (0..<40).map { upload(3 + $0, on: 0, Tasks.create(Int64($0 % 20), title: "t\($0)")) },
            by: writer
        )
        return world
    }

    private func newClient(_ engine: SyncEngine, _ world: ServerFileWorld) async throws
        -> ClientFile
    {
        let opened = try await engine.open(
            .string("store-42"),
            of: ServerFileWorld.app,
            for: ServerFileWorld.ann,
            needsFileIdent: true
        )
        let ident = ClientMessage.Ident(
            session: 1,
            file: try #require(opened.assigned),
            download: .zero,
            latestServerVersion: .zero
        )
        return try await engine.identify(ident, in: world.file, for: ServerFileWorld.ann)
    }

    private func expectState(of world: ServerFileWorld, at client: ClientFile) async throws {
        var model = ModelClient(client)
        while try await !model.downloadOnce(from: world) {}
        #expect(try await model.realm == world.realm())
    }

    @Test("P16 Clients of two processes begin with one snapshot, which is whole")
    func once() async throws {
        try await PostgreSQLStores.withStore(in: database) { one in
            try await PostgreSQLStores.withStore(in: database) { two in
                let world = try await world(one)
                let engines = [world.engine, process(two)]
                let clients = try await withThrowingTaskGroup(of: ClientFile.self) { group in
                    for number in 0..<8 {
                        group.addTask { try await newClient(engines[number % 2], world) }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(Set(clients.map(\.snapshotVersion)).count == 1)
                #expect(clients[0].snapshotVersion > .zero)
                for client in clients { try await expectState(of: world, at: client) }
            }
        }
    }

    @Test("P16 One of two may build; with its connection ends what it claimed, and its remains")
    func killed() async throws {
        try await PostgreSQLStores.withStore(in: database) { one in
            try await PostgreSQLStores.withStore(in: database) { two in
                let world = try await world(one)
                let file = world.file
                try await one.holdingState { held in
                    #expect(try await held.claimSnapshot(of: file))
                    // A part, as of a builder that is killed after it.
                    try await one.write(.file(file)) { transaction in
                        try transaction.appendSnapshot(
                            Array("half".utf8),
                            at: ServerVersion(1),
                            of: ServerVersion(41),
                            in: file,
                            at: 0
                        )
                    }
                    let claims = try await two.holdingState { other in
                        try await [
                            other.claimSnapshot(of: file),
                            other.claimSnapshot(of: ServerFileID(99)),
                        ]
                    }
                    #expect(claims == [false, true])
                    try database.connect().execute(
                        """
                        SELECT pg_terminate_backend(pid) FROM pg_locks
                        WHERE locktype = 'advisory' AND database =
                            (SELECT oid FROM pg_database WHERE datname = current_database())
                        """
                    )
                }
                let client = try await newClient(process(two), world)
                #expect(client.snapshotVersion > .zero)
                try await expectState(of: world, at: client)
                let parts = try database.connect().run(
                    "SELECT count(DISTINCT snapshot_version) FROM realm.snapshot"
                )
                #expect(try parts.integer(0, 0) == 1)
            }
        }
    }
}
