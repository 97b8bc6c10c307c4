import Changesets
import Coordination
import PostgreSQL
import PostgreSQLFixtures
import ServerFixtures
import ServerStore
import SyncProtocol
import Testing
import Versions

@testable import PostgreSQLServerStore
@testable import SyncServer

/// The round trips of the engine's work on a store in PostgreSQL (P1).
@Suite(
    "Round trips of the engine",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct RoundTripTests {
    @Test("An upload of 1 000 objects takes two round trips, a download one, an IDENT two")
    func engine() async throws {
        var options = PostgreSQLStore.Options()
        // The connection of all work is known.
        options.lanes.lanes = 1
        try await PostgreSQLStores.withStore(options) { store in
            let world = try await ServerFileWorld(store: store, isStrict: false)
            let client = try await world.client()
            let reader = try await world.client()
            try await world.upload([ServerTests.upload(2, on: 0)], by: client)
            func roundTrips(_ body: () async throws -> Void) async throws -> Int {
                try await Self.roundTrips(of: store, body)
            }
            let changesets = (UInt64(0)..<1000).map { number in
                ServerTests.upload(3 + number, on: 1, Tasks.create(Int64(number), title: "task"))
            }
            let upload = try await roundTrips {
                try await world.upload(changesets, by: client)
            }
            #expect(upload == 2)
            #expect(try await world.tasks().count == 1000)

            let download = try await roundTrips {
                let batch = try await world.scan(for: reader)
                #expect(batch.isComplete && batch.changesets.count == 1001)
            }
            #expect(download == 1)

            let progress = try await world.scan(for: client).progress
            let ident = try await roundTrips {
                _ = try await world.identify(
                    SaltedFileIdent(ident: client.ident, salt: client.salt),
                    at: progress.download,
                    latest: progress.latestServerVersion
                )
            }
            #expect(ident == 2)
        }
    }

    /// Those of the only lane.
    private static func roundTrips(
        of store: PostgreSQLStore,
        _ body: () async throws -> Void
    ) async throws -> Int {
        let before = try await store.withConnection { $0.roundTrips }
        try await body()
        return try await store.withConnection { $0.roundTrips } - before
    }

    private static var oneLane: PostgreSQLStore.Options {
        var options = PostgreSQLStore.Options()
        options.lanes.lanes = 1
        return options
    }

    @Test("An IDENT after rejected writes takes two round trips, too, and reports them")
    func rejectedWrites() async throws {
        try await PostgreSQLStores.withStore(Self.oneLane) { store in
            let world = try await ServerFileWorld(store: store, isStrict: false)
            let client = try await world.client()
            try await world.upload(
                [
                    ServerTests.upload(2, on: 0),
                    ServerTests.upload(3, on: 0, Tasks.create(1, title: "one")),
                ],
                by: client
            )
            let told = try await world.scan(for: client).progress
            // There is no ninth element to insert behind.
            let outcome = try await world.upload(
                [ServerTests.upload(4, on: 2, Tasks.appendTag(1, "x", at: 9))],
                by: client
            )
            #expect(outcome.refused.count == 1)
            let ident = ClientMessage.Ident(
                session: 1,
                file: client.salted,
                download: told.download,
                latestServerVersion: told.latestServerVersion
            )
            let trips = try await Self.roundTrips(of: store) {
                let identified = try await world.engine.identify(
                    ident,
                    in: world.file,
                    for: ServerFileWorld.ann,
                    offlineLimitInMilliseconds: nil,
                    subscribing: nil
                )
                #expect(
                    identified.rejected.map(\.compensatedAt)
                        == outcome.refused.map(\.compensatedAt)
                )
            }
            #expect(trips == 2)
        }
    }

    @Test("Uploads of eight clients that share a transaction read their history together")
    func batch() async throws {
        try await PostgreSQLStores.withStore(Self.oneLane) { store in
            let world = try await ServerFileWorld(store: store, isStrict: false)
            var clients: [ClientFile] = []
            for _ in 0..<9 { clients.append(try await world.client()) }
            try await world.upload([ServerTests.upload(2, on: 0)], by: clients[8])
            let roundTripsBefore = Promise<Int>()
            let isHeld = Promise<Void>()
            let trips = try await withThrowingTaskGroup { group in
                // The lane is busy until all uploads wait.
                group.addTask {
                    try await store.withConnection { connection in
                        isHeld.keep()
                        for _ in 0..<6000 where store.waitingWrites(of: world.file) < 8 {
                            try connection.run("SELECT pg_sleep(0.01)")
                        }
                        roundTripsBefore.keep(connection.roundTrips)
                    }
                }
                await isHeld.value
                for (number, client) in clients.prefix(8).enumerated() {
                    group.addTask {
                        let bytes = Tasks.create(Int64(number), title: "task")
                        try await world.upload([ServerTests.upload(2, on: 1, bytes)], by: client)
                    }
                }
                try await group.waitForAll()
                let before = await roundTripsBefore.value
                return try await store.withConnection { $0.roundTrips } - before
            }
            // The first one began alone. The seven others are behind it: each asks for the size of its history.
            #expect(trips == 4 + 7)
            #expect(try await world.tasks().count == 8)
        }
    }

    @Test("A merge with a few of many versions reads them together, and their reciprocals")
    func longMerge() async throws {
        try await PostgreSQLStores.withStore(Self.oneLane) { store in
            let world = try await ServerFileWorld(
                store: store,
                isStrict: false,
                merging: MergeLimits(unindexedSizeInBytes: 4096)
            )
            let (away, writer) = (try await world.client(), try await world.client())
            try await world.upload(
                [
                    ServerTests.upload(2, on: 0),
                    ServerTests.upload(3, on: 0, Tasks.create(0, title: "zero")),
                ],
                by: away
            )
            // One of 60 versions is about the object that the other client changes offline; those between
            // fill a page of the history.
            let long = String(repeating: "x", count: 20_000)
            let changesets = (UInt64(0)..<600).map { number in
                ServerTests.upload(
                    2 + number,
                    on: 2,
                    number % 60 == 0
                        ? Tasks.setTitle(0, "\(number)")
                        : Tasks.create(Int64(number), title: long)
                )
            }
            for start in stride(from: 0, to: 600, by: 100) {
                try await world.upload(Array(changesets[start..<start + 100]), by: writer)
            }
            // Its index is made once.
            try await world.upload(
                [ServerTests.upload(4, on: 2, Tasks.setTitle(0, "first"))],
                by: away
            )
            let trips = try await Self.roundTrips(of: store) {
                let outcome = try await world.upload(
                    [ServerTests.upload(5, on: 2, Tasks.setTitle(0, "second"))],
                    by: away
                )
                #expect(outcome.mergedPairs > 0)
            }
            // Begin, sizes of the history and its proof, ten versions together, its end, commit.
            #expect(trips <= 10, "\(trips) round trips")
        }
    }
}
