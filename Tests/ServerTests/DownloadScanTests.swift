import Changesets
import ServerFixtures
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

/// Sync history, 15.1.
@Suite("Collecting downloads")
struct DownloadScanTests {
    @Test("An empty history gives a batch of zeros")
    func emptyHistory() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        let batch = try await world.scan(for: client)
        #expect(batch.progress == .zero)
        #expect(batch.changesets.isEmpty && batch.isComplete)
        #expect(batch.downloadableBytes == 0)
    }

    @Test("A batch ends after the limit, with at least one changeset; the next continues there")
    func limit() async throws {
        let world = try await ServerFileWorld(downloadLimitInBytes: 1)
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0)], by: second)
        let creates = (1...3).map { upload(1 + $0, on: 1, Tasks.create(Int64($0), title: "t")) }
        try await world.upload(creates, by: first)
        let third = try await world.client()

        var cursor = DownloadCursor.zero
        var seen: [UInt64] = []
        var remaining: [UInt64] = []
        for _ in 1...4 {
            let batch = try await world.scan(for: third, from: cursor)
            #expect(batch.changesets.count == 1)
            seen += batch.changesets.map(\.cursor.serverVersion.rawValue)
            remaining.append(batch.downloadableBytes)
            cursor = batch.progress.download
            #expect(batch.progress.latestServerVersion.version == ServerVersion(4))
        }
        #expect(seen == [1, 2, 3, 4])
        let size = try Changeset(decoding: Tasks.create(1, title: "t")).encoded().count
        #expect(remaining == [3, 2, 1, 0].map { UInt64($0 * size) })
        #expect(try await world.scan(for: third, from: cursor).changesets.isEmpty)
    }

    @Test("Own versions in front of a limit are not passed before what comes with them")
    func limitBetweenOwnVersions() async throws {
        let world = try await ServerFileWorld(downloadLimitInBytes: 1)
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0)], by: second)  // 1
        try await world.upload([upload(2, on: 1, Tasks.create(1, title: "a"))], by: first)  // 2
        try await world.upload([upload(3, on: 1, Tasks.create(2, title: "b"))], by: first)  // 3
        try await world.upload([upload(3, on: 1, Tasks.create(3, title: "c"))], by: second)  // 4
        let batch = try await world.scan(for: first)
        #expect(batch.progress.download == downloadCursor(1, 0))
        let next = try await world.scan(for: first, from: batch.progress.download)
        #expect(next.changesets.map(\.cursor) == [downloadCursor(4, 3)])
        #expect(next.progress.download == downloadCursor(4, 3))
    }

    @Test("Every version has the salt of the process that made it")
    func salts() async throws {
        try await withTemporaryDirectory { directory in
            let location = SQLiteStore.Location.file(path: "\(directory)/server.sqlite")
            let store = try await SQLiteStore(location)
            let world = try await ServerFileWorld(store: store)
            let client = try await world.client()
            try await world.upload([upload(2, on: 0)], by: client)
            let before = try await world.scan(for: client).progress.latestServerVersion
            await store.close()
            let reopened = try await SQLiteStore(location)
            let restarted = SyncEngine(
                store: reopened,
                clock: world.clock.wallClock,
                random: .seeded(2)
            )
            let same = try await restarted.scan(for: client.ident, from: .zero, in: world.file)
            #expect(same?.progress.latestServerVersion == before)
            _ = try await restarted.integrate(
                Upload(
                    client: client.ident,
                    sessionEpoch: client.sessionEpoch,
                    changesets: [upload(3, on: 1, Tasks.create(1, title: "x"))],
                    progress: uploadCursor(3, 1),
                    lockedServerVersion: .zero
                ),
                into: world.file,
                policy: world.policy
            )
            let after = try await restarted.scan(for: client.ident, from: .zero, in: world.file)
            #expect(after?.progress.latestServerVersion.salt != before.salt)
            await reopened.close()
        }
    }

    @Test("A removed client file has nothing to download")
    func goneClientFile() async throws {
        let world = try await ServerFileWorld()
        #expect(
            try await world.engine.scan(for: FileIdent(50), from: .zero, in: world.file) == nil
        )
    }
}
