import Changesets
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
                let before = try await store.withConnection { $0.roundTrips }
                try await body()
                return try await store.withConnection { $0.roundTrips } - before
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
}
