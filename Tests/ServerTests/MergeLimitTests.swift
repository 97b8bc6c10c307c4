import Changesets
import Merge
import ServerFixtures
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

/// The limits of one upload's work for the store's only writer (merge rules, 10; sync history,
/// 18.5).
@Suite("The history that an upload is merged with")
struct MergeLimitTests {
    /// A client that has seen nothing of ten elements appends ten itself, each on a newer base.
    private func append(within limits: MergeLimits) async throws -> ServerFileWorld {
        let world = try await ServerFileWorld(merging: limits)
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "x"))],
            by: first
        )
        try await world.upload(
            (0..<10).map {
                upload(4 + $0, on: 2, at: 10, Tasks.appendTag(1, "a", at: UInt32($0)))
            },
            by: first
        )
        try await world.upload(
            (0..<10).map {
                upload(2 + $0, on: 2 + $0, at: 20, Tasks.appendTag(1, "b", at: UInt32(2 * $0)))
            },
            by: second
        )
        return world
    }

    @Test("Pairs count for all changesets of an upload together, and nothing is stored")
    func pairs() async throws {
        // Ten meet ten, then nine, and so on.
        let world = try await append(within: MergeLimits(pairs: 55))
        let tags = try await world.tasks()[.int(1)]
        #expect(tags?.split(separator: "\"a\"").count == 11, "\(tags ?? "")")
        await #expect(throws: IntegrationRefusal.self) {
            _ = try await append(within: MergeLimits(pairs: 54))
        }
    }

    @Test("An upload that involves more history than the limit is refused, others are not")
    func size() async throws {
        let limits = MergeLimits(historySizeInBytes: 50, unindexedSizeInBytes: 0)
        let world = try await ServerFileWorld(merging: limits)
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "x"))],
            by: first
        )
        try await world.upload(
            (0..<20).map { upload(4 + $0, on: 2, Tasks.setTitle(1, "title \($0)")) },
            by: first
        )
        await #expect(throws: IntegrationRefusal.tooMuchHistory) {
            try await world.upload([upload(2, on: 2, Tasks.setTitle(1, "mine"))], by: second)
        }
        try await world.upload([upload(2, on: 2, Tasks.create(2, title: "mine"))], by: second)
        try await world.upload([upload(3, on: 20, Tasks.setTitle(1, "mine"))], by: second)
    }

    @Test("A client that uploads many MiB alone needs no index; the history of others does")
    func ownHistory() async throws {
        let world = try await ServerFileWorld()
        let subject = HistoryIndex.Subject(file: world.file, generation: 0)
        let (first, second) = (try await world.client(), try await world.client())
        let long = String(repeating: "x", count: 400_000)
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "x"))],
            by: first
        )
        for round in UInt64(0)..<12 {
            try await world.upload(
                [upload(4 + round, on: 0, Tasks.setTitle(1, "\(round) \(long)"))],
                by: first
            )
        }
        #expect(try await world.serverFile().historySizeInBytes > 4 << 20)
        #expect(world.engine.indexes[subject] == nil)

        try await world.upload([upload(2, on: 2, Tasks.create(2, title: "y"))], by: second)
        let end = try #require(world.engine.indexes[subject]?.end)
        #expect(end == ServerVersion(14))
        // With an index, too, only the entries of others after it count.
        for round in UInt64(0)..<6 {
            try await world.upload(
                [upload(3 + round, on: 2, Tasks.setTitle(2, "\(round) \(long)"))],
                by: second
            )
        }
        #expect(world.engine.indexes[subject]?.end == end)
    }

    @Test("An index of a history that a store has forgotten is made again")
    func forgottenHistory() async throws {
        let world = try await ServerFileWorld(merging: MergeLimits(unindexedSizeInBytes: 100))
        let subject = HistoryIndex.Subject(file: world.file, generation: 0)
        let (first, second) = (try await world.client(), try await world.client())
        let beginning = [
            upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: "x")),
            upload(4, on: 0, Tasks.create(2, title: "y")),
        ]
        try await world.upload(beginning, by: first)
        // What the store forgets is about another object than what it makes instead.
        let lost = (0..<10).map { upload(5 + $0, on: 3, at: 10, Tasks.setTitle(2, "lost \($0)")) }
        try await world.upload(lost, by: first)
        try await world.upload([upload(2, on: 3, at: 20, Tasks.create(3, title: "z"))], by: second)
        #expect(world.engine.indexes[subject]?.end == ServerVersion(13))

        let entries = try await world.entries(after: 3)
        let stored = try await world.stored(first)
        try await world.store.write(for: .upkeep) { [file = world.file] transaction in
            // The same versions, with another content and other salts.
            let kept = try Self.rewind(file, by: entries.count, transaction)
            var client = stored
            client.upload = uploadCursor(4, 0)
            try transaction.put(client, in: file)
            try transaction.append(
                entries.enumerated().map { offset, entry in
                    HistoryEntry(
                        version: SaltedServerVersion(
                            version: entry.version.version,
                            salt: Salt(77)
                        ),
                        origin: first.ident,
                        clientVersion: ClientVersion(UInt64(offset) + 5),
                        timestamp: OriginTimestamp(1_000),
                        // Those up to the end of the index count: what is after it is read anyway.
                        changeset: Tasks.setTitle(offset < 10 ? 1 : 2, "made instead"),
                        cumulativeSizeInBytes: kept + UInt64(offset) * 50
                    )
                },
                to: file
            )
        }
        // Older than what was made instead, which must win.
        try await world.upload([upload(3, on: 3, at: 30, Tasks.setTitle(1, "mine"))], by: second)
        let last = try await world.entries(after: 3).last
        #expect(last?.changeset.isEmpty == true)
        #expect(world.engine.indexes[subject]?.end == ServerVersion(14))
    }

    /// Removes the newest versions; returns the size of the rest.
    private static func rewind(
        _ id: ServerFileID,
        by count: Int,
        _ transaction: any StoreTransaction
    ) throws -> UInt64 {
        var kept: [HistoryEntry] = []
        try transaction.forEachEntry(of: id, after: .zero, readBy: .server) { entry in
            kept.append(entry)
            return .next
        }
        kept.removeLast(count)
        try transaction.trimHistory(of: id, upTo: ServerVersion(UInt64(Int64.max)))
        try transaction.append(kept, to: id)
        return kept.last?.cumulativeSizeInBytes ?? 0
    }

    @Test("The first upload of a new client, a schema, needs only an index of schema changes")
    func schemaIndex() async throws {
        let world = try await ServerFileWorld(merging: MergeLimits(unindexedSizeInBytes: 100))
        let subject = HistoryIndex.Subject(file: world.file, generation: 0)
        var schemaSubject = subject
        schemaSubject.isSchemaOnly = true
        let (first, second) = (try await world.client(), try await world.client())
        try await world.upload([upload(2, on: 0, Tasks.schema)], by: first)
        try await world.upload(
            (0..<20).map { upload(3 + $0, on: 0, Tasks.create(Int64($0), title: "title")) },
            by: first
        )
        try await world.upload([upload(30, on: 0, Tasks.addColumn("x", .string))], by: first)
        try await world.upload(
            [upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.addColumn("x", .string))],
            by: second
        )
        #expect(world.engine.indexes[subject] == nil)
        let index = try #require(world.engine.indexes[schemaSubject])
        #expect(index.end == ServerVersion(22))
        #expect(
            index.versions(after: .zero, touching: nil) == [ServerVersion(1), ServerVersion(22)]
        )
        let places = TouchedPlaces(of: try Changeset(decoding: Tasks.schema)).numbers
        #expect(index.versions(after: .zero, touching: places) == [ServerVersion(1)])
        // Objects need an index of everything, which serves schemas, too.
        try await world.upload([upload(4, on: 0, Tasks.setTitle(3, "mine"))], by: second)
        #expect(world.engine.indexes[subject] != nil)
    }

    @Test("With an index of the history every upload has the same result as without one")
    func indexed() async throws {
        for seed in UInt64(0)..<20 {
            let worlds = [
                try await ServerFileWorld(seed: seed),
                try await ServerFileWorld(
                    merging: MergeLimits(unindexedSizeInBytes: 0),
                    seed: seed
                ),
                try await ServerFileWorld(
                    merging: MergeLimits(unindexedSizeInBytes: 300),
                    seed: seed
                ),
            ]
            var contents: [[Set<String>]] = []
            for world in worlds {
                var random = SplitMix64(seed: seed)
                try await fill(world, using: &random)
                let history = try await world.history()
                contents.append([Set(try await world.tasks().values), Set(history)])
            }
            #expect(contents[0] == contents[1], "seed \(seed)")
            #expect(contents[0] == contents[2], "seed \(seed)")
        }
    }

    /// Three clients, whose bases advance now and then only.
    private func fill(
        _ world: ServerFileWorld,
        using random: inout SplitMix64
    ) async throws {
        let clients = [
            try await world.client(), try await world.client(), try await world.client(),
        ]
        var bases: [UInt64] = [0, 0, 0]
        try await world.upload([upload(2, on: 0, Tasks.schema)], by: clients[0])
        for round in UInt64(0)..<80 {
            let number = Int.random(in: 0..<3, using: &random)
            if Int.random(in: 0..<8, using: &random) == 0 {
                bases[number] = try await world.serverFile().currentVersion.rawValue
            }
            let id = Int64.random(in: 0..<4, using: &random)
            let bytes =
                switch Int.random(in: 0..<5, using: &random) {
                case 0: Tasks.create(id, title: "\(round)")
                case 1: Tasks.erase(id)
                case 2: Tasks.addColumn(Text("c\(id)"), .string)
                default: Tasks.setTitle(id, "\(round)")
                }
            // An object that is not there may be refused: in every world alike.
            _ = try? await world.upload(
                [upload(10 + round, on: bases[number], at: 1000 + round, bytes)],
                by: clients[number]
            )
        }
    }

    @Test(
        "What would make an object too large is left out and undone; the rest of the upload counts"
    )
    func documents() async throws {
        let world = try await ServerFileWorld(merging: MergeLimits(documentSizeInBytes: 400))
        let client = try await world.client()
        let long = String(repeating: "x", count: 300)
        try await world.upload(
            [
                upload(2, on: 0, Tasks.schema), upload(3, on: 0, Tasks.create(1, title: long)),
                upload(4, on: 0, Tasks.create(2, title: "b")),
            ],
            by: client
        )
        let before = try await world.tasks()
        let outcome = try await world.upload(
            [
                upload(5, on: 0, Tasks.appendTag(1, long, at: 0)),
                upload(6, on: 0, Tasks.setTitle(2, "c")),
                upload(7, on: 0, Tasks.create(3, title: long + long)),
            ],
            by: client
        )
        let after = try await world.tasks()
        #expect(after[.int(1)] == before[.int(1)])
        #expect(after[.int(2)]?.contains("\"c\"") == true)
        #expect(after[.int(3)] == nil)
        let updates = outcome.refused.flatMap(\.updates.updates)
        #expect(updates.map(\.key) == [.int(1), .int(3)])
        #expect(Set(updates.map(\.reason)) == ["the object would be too large"])
        // The client is told what it has instead, the others see nothing of it.
        #expect(try await world.scan(for: client).changesets.count == 1)
        var other = ModelClient(try await world.client())
        while try await !other.downloadOnce(from: world) {}
        #expect(try await other.realm == world.realm())
        // What is smaller passes.
        try await world.upload([upload(8, on: 0, Tasks.setTitle(1, "short"))], by: client)
        try await world.upload([upload(9, on: 0, Tasks.appendTag(1, "tag", at: 0))], by: client)
        #expect(try await world.tasks()[.int(1)]?.contains("tag") == true)
    }

    @Test("An index finds what touches the same objects, classes and columns, and nothing else")
    func index() throws {
        let index = HistoryIndex(of: .init(file: ServerFileID(1), generation: 0))
        let history = [
            Tasks.schema, Tasks.create(1, title: "a"), Tasks.create(2, title: "b"),
            Tasks.setTitle(1, "c"), Tasks.addColumn("x", .string),
        ]
        for (position, bytes) in history.enumerated() {
            index.append(
                ServerVersion(UInt64(position) + 1),
                try Changeset(decoding: bytes)
            )
        }
        func versions(after version: UInt64, _ bytes: [UInt8]) throws -> [UInt64] {
            let places = TouchedPlaces(of: try Changeset(decoding: bytes)).numbers
            return index.versions(after: ServerVersion(version), touching: places)
                .map(\.rawValue)
        }
        #expect(try versions(after: 0, Tasks.setTitle(1, "d")) == [2, 4])
        #expect(try versions(after: 2, Tasks.setTitle(1, "d")) == [4])
        #expect(try versions(after: 0, Tasks.erase(2)) == [3])
        #expect(try versions(after: 0, Tasks.create(9, title: "z")) == [])
        #expect(try versions(after: 0, Tasks.schema) == [1])
        #expect(try versions(after: 0, Tasks.addColumn("x", .string)) == [5])
        #expect(index.versions(after: ServerVersion(3), touching: nil).map(\.rawValue) == [4, 5])
        // What comes again changes nothing.
        index.append(ServerVersion(2), try Changeset(decoding: Tasks.schema))
        #expect(index.end == ServerVersion(5))
    }
}

extension ServerFileWorld {
    /// The entries of the history after a version.
    fileprivate func entries(after version: UInt64) async throws -> [HistoryEntry] {
        try await store.read { [file] snapshot in
            var entries: [HistoryEntry] = []
            try snapshot.forEachEntry(
                of: file,
                after: ServerVersion(version),
                readBy: .server
            ) { entry in
                entries.append(entry)
                return .next
            }
            return entries
        }
    }

    /// Every entry of the history, in words.
    fileprivate func history() async throws -> [String] {
        try await store.read { [file] snapshot in
            var entries: [String] = []
            try snapshot.forEachChangeset(of: file, in: .zero, after: .zero) {
                version,
                bytes throws(StoreError) in
                entries.append("\(version.rawValue): \(bytes)")
                return .next
            }
            return entries
        }
    }
}
