import Changesets
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

/// Interfaces, 9; sync history, 16.
@Suite("Snapshots and trimming of history", .timeLimit(.minutes(10)))
struct SnapshotTests {
    private static let limit: Int64 = 30 * 86_400 * 1000

    private func world(ratio: UInt64 = 1) async throws -> (ServerFileWorld, ClientFile) {
        let world = try await ServerFileWorld(
            downloadLimitInBytes: 1,
            snapshots: SnapshotPolicy(historySizeInBytes: 1, ratio: ratio, changesetSizeInBytes: 60)
        )
        let writer = try await world.client()
        try await world.upload([upload(2, on: 0)], by: writer)
        try await world.upload(
            (0..<4).map { upload(3 + $0, on: 0, Tasks.create(Int64($0), title: "t\($0)")) },
            by: writer
        )
        try await world.upload(
            (0..<60).map { upload(10 + $0, on: 0, Tasks.setTitle(Int64($0 % 4), "t\($0)")) },
            by: writer
        )
        return (world, writer)
    }

    /// Downloads everything, and compares it with what the server has.
    private func expectState(of world: ServerFileWorld, at client: ClientFile) async throws {
        var model = ModelClient(client)
        while try await !model.downloadOnce(from: world) {}
        #expect(try await model.realm == world.realm())
    }

    @Test("A new client begins with the state, in bounded batches, and resumes where it stopped")
    func firstDownload() async throws {
        let (world, writer) = try await world()
        let client = try await world.client()
        #expect(client.snapshotVersion == ServerVersion(65))
        try await world.upload([upload(80, on: 0, Tasks.erase(3))], by: writer)

        var cursor = DownloadCursor.zero
        var versions: [UInt64] = []
        var batches = 0
        repeat {
            let batch = try await world.scan(for: client, from: cursor)
            #expect(batch.changesets.count == 1)
            versions += batch.changesets.map(\.cursor.serverVersion.rawValue)
            cursor = batch.progress.download
            batches += 1
            // A client that reconnects in the middle continues there.
            let latest = batch.progress.latestServerVersion
            let again = try await world.identify(client.salted, at: cursor, latest: latest)
            #expect(again.snapshotVersion == client.snapshotVersion)
        } while cursor.serverVersion < ServerVersion(66)
        #expect(versions == versions.sorted() && Set(versions).count == versions.count)
        #expect(versions.suffix(2) == [65, 66])
        #expect(batches > 2 && batches < 10)
    }

    @Test("A snapshot that is made while others upload is the state of one moment")
    func whileOthersUpload() async throws {
        let (world, writer) = try await world(ratio: 0)
        let many = (0..<200).map {
            upload(100 + UInt64($0), on: 0, Tasks.create(100 + Int64($0), title: "n\($0)"))
        }
        try await world.upload(many, by: writer)
        let client = try await withThrowingTaskGroup(of: ClientFile?.self) { group in
            group.addTask {
                // They continue as fast as they can, until the client has its snapshot.
                for round in 0..<100 {
                    try await world.upload(
                        [
                            upload(
                                1000 + UInt64(round),
                                on: 0,
                                round % 3 == 0
                                    ? Tasks.erase(100 + Int64(round))
                                    : Tasks.setTitle(101 + Int64(round), "r\(round)")
                            )
                        ],
                        by: writer
                    )
                }
                return nil
            }
            group.addTask { try await world.client() }
            var client: ClientFile?
            while let next = try await group.next() { client = next ?? client }
            return try #require(client)
        }
        #expect(client.snapshotVersion > .zero)
        try await expectState(of: world, at: client)
    }

    @Test("An interrupted build has no effect, and the next one is complete")
    func unfinished() async throws {
        let (world, _) = try await world()
        let file = world.file
        try await world.store.write { transaction in
            for version in [UInt64(1), 2] {
                try transaction.appendSnapshot(
                    Array("half".utf8),
                    at: ServerVersion(version),
                    of: ServerVersion(64),
                    in: file,
                    at: 0
                )
            }
        }
        let client = try await world.client()
        #expect(client.snapshotVersion == ServerVersion(65))
        try await expectState(of: world, at: client)
        let leftovers = try await world.store.read { snapshot in
            var count = 0
            try snapshot.forEachSnapshotEntry(
                of: file,
                in: ServerVersion(64),
                after: .zero
            ) { _ throws(StoreError) in
                count += 1
                return .next
            }
            return count
        }
        #expect(leftovers == 0)
    }

    @Test("Many new clients at once wait for one snapshot, and all begin with it")
    func manyAtOnce() async throws {
        let (world, _) = try await world()
        let versions = try await withThrowingTaskGroup(of: ServerVersion.self) { group in
            for _ in 0..<20 {
                group.addTask { try await world.client().snapshotVersion }
            }
            return try await group.reduce(into: Set<ServerVersion>()) { $0.insert($1) }
        }
        #expect(versions == [ServerVersion(65)])
    }

    @Test("History is kept while a client may need it; one absent for too long starts over")
    func trimming() async throws {
        let (world, writer) = try await world()
        let client = try await world.client()
        let latest = try await world.scan(for: client).progress.latestServerVersion
        func trim() async throws -> UInt64 {
            try await world.engine.upkeep.trim(
                ServerFileWorld.app,
                offlineLimitInMilliseconds: Self.limit,
                connected: [ClientFileID(file: world.file, ident: client.ident)]
            )
            return try await world.serverFile().baseVersion.version.rawValue
        }
        // The writer has not said that it has any of it.
        #expect(try await trim() == 0)
        world.clock.advance(bySeconds: 31 * 86_400)
        #expect(try await trim() == 65)
        let fresh = try await world.client()
        #expect(try await world.scan(for: fresh).changesets.count == 1)
        let expired = try await world.stored(writer)
        #expect(expired.isExpired)
        await #expect(throws: SessionFault.clientFileExpired) {
            _ = try await world.identify(expired.salted)
        }
        // The one that was always connected continues.
        _ = try await world.identify(client.salted, at: downloadCursor(65, 0), latest: latest)
    }

    @Test("History of a realm with one device is also trimmed, once the device has it")
    func oneDevice() async throws {
        let (world, writer) = try await world()
        func trim() async throws -> UInt64 {
            try await world.engine.upkeep.trim(
                ServerFileWorld.app,
                offlineLimitInMilliseconds: Self.limit,
                connected: [ClientFileID(file: world.file, ident: writer.ident)]
            )
            return try await world.serverFile().baseVersion.version.rawValue
        }
        #expect(try await trim() == 0)
        #expect(try await world.serverFile().snapshot == nil, "it would save nothing yet")
        try await world.upload([], progress: uploadCursor(80, 65), locked: 65, by: writer)
        #expect(try await trim() == 65)
        // A new client has all of it, and the device continues.
        try await expectState(of: world, at: try await world.client())
        try await world.upload([upload(90, on: 65, Tasks.erase(3))], locked: 65, by: writer)
        try await expectState(of: world, at: try await world.client())
        #expect(try await trim() == 65)
        // Most of the history must be replaceable before the next one.
        try await world.upload(
            (0..<60).map { upload(100 + $0, on: 66, Tasks.setTitle(Int64($0 % 3), "n\($0)")) },
            by: writer
        )
        try await world.upload([], progress: uploadCursor(200, 126), locked: 126, by: writer)
        #expect(try await trim() == 65, "those that have begun meanwhile may need it")
        world.clock.advance(bySeconds: 31 * 86_400)
        #expect(try await trim() == 126)
        try await expectState(of: world, at: try await world.client())
    }

    @Test("D4 A file absent for longer than the limit is expired, a newer one is not")
    func offlineLimit() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        func identify() async throws {
            _ = try await world.engine.identify(
                .init(
                    session: 1,
                    file: client.salted,
                    download: .zero,
                    latestServerVersion: .zero
                ),
                in: world.file,
                for: ServerFileWorld.ann,
                offlineLimitInMilliseconds: Self.limit
            )
        }
        world.clock.advance(bySeconds: 29 * 86_400)
        try await identify()
        world.clock.advance(bySeconds: 31 * 86_400)
        await #expect(throws: SessionFault.clientFileExpired) { try await identify() }
    }
}
