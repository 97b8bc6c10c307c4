import ServerFixtures
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Sessions of one file read its growth once, and find what a scan finds.
@Suite("Recent histories", .timeLimit(.minutes(5)))
struct RecentHistoryTests {
    private static func history(
        _ world: ServerFileWorld,
        after start: SaltedServerVersion
    ) async throws -> RecentHistory? {
        let growth = try await world.growth(after: start)
        return growth.flatMap { RecentHistory(after: start, $0) }
    }

    @Test("Every session finds what a scan of the store finds", arguments: 0..<20)
    func sameAsScan(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        // Histories as short as these are not compacted.
        let world = try await ServerFileWorld(
            downloadLimitInBytes: 120,
            snapshots: SnapshotPolicy()
        )
        var clients: [ClientFile] = []
        for _ in 0..<4 { clients.append(try await world.client()) }
        try await world.upload([upload(2, on: 0)], by: clients[0])
        var positions: [SyncProgress] = []
        for client in clients { positions.append(try await Self.catchUp(world, client)) }
        var history: RecentHistory?
        var versions: [UInt64] = [2, 1, 1, 1]
        for round in 0..<6 {
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let number = Int.random(in: 0..<4, using: &random)
                versions[number] += 1
                // Some do not fit, and are corrected for their client alone.
                let bytes =
                    Int.random(in: 0..<5, using: &random) == 0
                    ? Tasks.appendTag(1, "tag", at: 9)
                    : Tasks.create(Int64.random(in: 1..<9, using: &random), title: "\(round)")
                let base = positions[number].download.serverVersion.rawValue
                try await world.upload(
                    [upload(versions[number], on: base, bytes)],
                    by: clients[number]
                )
            }
            if var known = history {
                let growth = try await world.growth(after: known.end)
                history = known.extend(try #require(growth)) ? known : nil
            } else {
                history = try await Self.history(world, after: positions[0].latestServerVersion)
            }
            for (number, client) in clients.enumerated() {
                let (cursor, told) = (
                    positions[number].download, positions[number].latestServerVersion
                )
                let stored = try await world.stored(client)
                let batch = history?.batch(
                    for: stored,
                    from: cursor,
                    toldOf: told,
                    softLimitInBytes: 120
                )
                let scanned = try await world.scan(for: client, from: cursor)
                if let batch { #expect(batch == scanned, "round \(round), client \(number)") }
                let hasOwn = try await Self.hasPrivateVersions(world, client, after: cursor)
                #expect(batch != nil || hasOwn || told.version != cursor.serverVersion)
                positions[number] = try await Self.catchUp(world, client, from: cursor)
            }
        }
    }

    /// Whether versions from a position on are for one client only: their salts are not known, nor whom they
    /// are for.
    private static func hasPrivateVersions(
        _ world: ServerFileWorld,
        _ client: ClientFile,
        after cursor: DownloadCursor
    ) async throws -> Bool {
        try await world.store.read { [file = world.file] snapshot in
            var visible = UInt64(0)
            try snapshot.forEachEntry(
                of: file,
                after: ServerVersion(cursor.serverVersion.rawValue - 1),
                readBy: .server
            ) { _ in
                visible += 1
                return .next
            }
            let end = try snapshot.file(file)?.currentVersion ?? .zero
            return end.rawValue - cursor.serverVersion.rawValue + 1 != visible
        }
    }

    private static func catchUp(
        _ world: ServerFileWorld,
        _ client: ClientFile,
        from cursor: DownloadCursor = .zero
    ) async throws -> SyncProgress {
        var cursor = cursor
        while true {
            let batch = try await world.scan(for: client, from: cursor)
            if batch.isComplete { return batch.progress }
            cursor = batch.progress.download
        }
    }

    @Test("A session that was told of another history, or not of all before, asks the store")
    func unknown() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let told = try await world.scan(for: client).progress.latestServerVersion
        let reader = try await world.client()
        try await world.upload([upload(3, on: 1, Tasks.create(1, title: "a"))], by: client)
        let history = try #require(try await Self.history(world, after: told))
        let cursor = downloadCursor(1, 0)
        func batch(
            of client: ClientFile,
            from cursor: DownloadCursor,
            _ told: SaltedServerVersion
        ) -> DownloadScan.Batch? {
            history.batch(for: client, from: cursor, toldOf: told, softLimitInBytes: 999)
        }
        #expect(batch(of: reader, from: cursor, told)?.changesets.count == 1)
        let other = SaltedServerVersion(version: told.version, salt: Salt(told.salt.rawValue ^ 1))
        #expect(batch(of: reader, from: cursor, other) == nil)
        #expect(batch(of: reader, from: .zero, .zero) == nil)
        #expect(batch(of: reader, from: .zero, told) == nil)
        var voided = ClientFile(
            ident: reader.ident,
            salt: reader.salt,
            owner: reader.owner,
            generation: reader.generation + 1,
            lastSeenAt: 0
        )
        #expect(batch(of: voided, from: cursor, told) == nil)
        voided = reader
        voided.snapshotVersion = ServerVersion(2)
        #expect(batch(of: voided, from: cursor, told) == nil)
    }

    @Test("What the store has lost, or has otherwise, is not joined to what is known")
    func otherHistory() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let told = try await world.scan(for: client).progress.latestServerVersion
        var history = try #require(try await Self.history(world, after: told))
        let growth = try #require(try await world.growth(after: told))
        func with(salt: Salt?, generation: UInt64) -> RecentHistory.Growth {
            RecentHistory.Growth(
                generation: generation,
                saltOfStart: salt,
                newest: growth.newest,
                historySizeInBytes: 9,
                asymmetric: growth.asymmetric,
                entries: []
            )
        }
        func isJoined(_ growth: RecentHistory.Growth) -> Bool { history.extend(growth) }
        #expect(isJoined(growth))
        #expect(!isJoined(with(salt: nil, generation: growth.generation)))
        #expect(!isJoined(with(salt: Salt(1), generation: growth.generation)))
        #expect(!isJoined(with(salt: told.salt, generation: growth.generation + 1)))
        #expect(RecentHistory(after: told, with(salt: Salt(1), generation: 0)) == nil)
    }

    private final class Count: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock(\.self) }

        func increase() {
            count.withLock { $0 += 1 }
        }
    }

    @Test("64 sessions that hear of growth at the same time read the store once")
    func once() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let told = try await world.scan(for: client).progress.latestServerVersion
        let recent = RecentHistories()
        let reads = Count()
        for round in UInt64(0)..<3 {
            try await world.upload(
                [upload(3 + round, on: 1, Tasks.create(Int64(round), title: "t"))],
                by: client
            )
            recent.note(ServerVersion(2 + round), of: world.file)
            try await withThrowingTaskGroup { group in
                for _ in 0..<64 {
                    group.addTask {
                        try await recent.history(of: world.file, after: told) { start in
                            reads.increase()
                            return try await world.growth(after: start)
                        }
                    }
                }
                for try await history in group {
                    #expect(history?.end.version == ServerVersion(2 + round))
                }
            }
            #expect(reads.value == Int(round) + 1)
        }
        #expect(recent.sizeInBytes > 0)
        recent.forget(world.file)
        #expect(recent.sizeInBytes == 0)
    }

    @Test("A read that fails is reported to its session, and the next one reads again")
    func failure() async throws {
        struct Failure: Error {}
        let world = try await ServerFileWorld()
        let recent = RecentHistories()
        let told = SaltedServerVersion.zero
        await #expect(throws: Failure.self) {
            try await recent.history(of: world.file, after: told) { _ in throw Failure() }
        }
        let history = try await recent.history(of: world.file, after: told) { start in
            try await world.growth(after: start)
        }
        #expect(history?.end == .zero)
    }

    @Test(
        "Above their limit of memory all histories are read again; one that is too long is not kept"
    )
    func limits() async throws {
        let world = try await ServerFileWorld()
        let client = try await world.client()
        try await world.upload([upload(2, on: 0)], by: client)
        let told = try await world.scan(for: client).progress.latestServerVersion
        let long = String(repeating: "x", count: 300_000)
        let recent = RecentHistories(limitInBytes: 700_000)
        func history(_ version: UInt64) async throws -> RecentHistory? {
            recent.note(ServerVersion(version), of: world.file)
            return try await recent.history(of: world.file, after: told) { start in
                try await world.growth(after: start)
            }
        }
        for number in UInt64(2)..<6 {
            try await world.upload(
                [upload(number + 1, on: 1, Tasks.create(Int64(number), title: long))],
                by: client
            )
            let history = try await history(number)
            #expect(recent.sizeInBytes <= 700_000)
            // The fourth makes it more than a MiB, and the third had made all of them too many.
            #expect((history == nil) == (number == 5))
        }
    }
}

extension ServerFileWorld {
    fileprivate func growth(
        after start: SaltedServerVersion
    ) async throws -> RecentHistory.Growth? {
        try await store.read { [file] in
            try RecentHistory.Growth(of: file, after: start, from: $0)
        }
    }
}
