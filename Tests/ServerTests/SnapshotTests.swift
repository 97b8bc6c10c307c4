import Changesets
import SyncProtocol
import Testing
import Versions

@testable import Server

/// Interfaces, 9; sync history, 16.
@Suite("Snapshots, and history that goes")
struct SnapshotTests {
    private static let limit: Int64 = 30 * 86_400 * 1000

    private func world() async throws -> (ServerFileWorld, ClientFile) {
        let world = try await ServerFileWorld(
            downloadLimitInBytes: 1,
            snapshots: SnapshotPolicy(historySizeInBytes: 1, ratio: 1, changesetSizeInBytes: 60)
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

    @Test("A new client begins with the state, in bounded batches, and goes on where it stopped")
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
            // Whoever comes back in the middle is where it was.
            let latest = batch.progress.latestServerVersion
            let again = try await world.identify(client.salted, at: cursor, latest: latest)
            #expect(again.snapshotVersion == client.snapshotVersion)
        } while cursor.serverVersion < ServerVersion(66)
        #expect(versions == versions.sorted() && Set(versions).count == versions.count)
        #expect(versions.suffix(2) == [65, 66])
        #expect(batches > 2 && batches < 10)
    }

    @Test("History stays while somebody may need it; who was away for too long starts over")
    func trimming() async throws {
        let (world, writer) = try await world()
        let client = try await world.client()
        let latest = try await world.scan(for: client).progress.latestServerVersion
        func trim() async throws -> UInt64 {
            try await world.engine.trim(
                ServerFileWorld.app,
                offlineLimitInMilliseconds: Self.limit,
                connected: [(world.file, client.ident)]
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
        // The one that was connected all the time goes on.
        _ = try await world.identify(client.salted, at: downloadCursor(65, 0), latest: latest)
    }

    @Test("D4 A file that was away for longer than the limit is expired, a newer one is not")
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
