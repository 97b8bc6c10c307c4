import Changesets
import Documents
import FoundationEssentials
import Merge
import Schemas
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Sync history, 16: what a client that begins is not sent.
@Suite("Compaction of downloads")
struct DownloadCompactionTests {
    private func entry(
        _ version: UInt64,
        at time: UInt64,
        by ident: UInt64 = 2,
        _ bytes: [UInt8]
    ) -> DownloadChangeset {
        DownloadChangeset(
            cursor: downloadCursor(version, 0),
            originTimestamp: OriginTimestamp(time),
            originFileIdent: FileIdent(ident),
            originalSizeInBytes: UInt64(bytes.count),
            bytes: bytes
        )
    }

    private func instructions(_ changesets: [DownloadChangeset]) throws -> [Int] {
        try changesets.map { try Changeset(decoding: $0.bytes).instructions.count }
    }

    // MARK: Rules

    @Test("Of an object that is erased, only the erasure is sent; what follows it is kept")
    func erasedObjects() throws {
        let compacted = DownloadCompaction.compact([
            entry(1, at: 10, Tasks.schema),
            entry(2, at: 11, Tasks.create(7, title: "a")),
            entry(3, at: 12, Tasks.create(8, title: "b")),
            entry(4, at: 13, Tasks.appendTag(7, "x", at: 0)),
            entry(5, at: 14, Tasks.count(7, 5)),
            entry(6, at: 15, Tasks.erase(7)),
            entry(7, at: 16, Tasks.create(7, title: "again")),
        ])
        #expect(compacted.map(\.cursor.serverVersion.rawValue) == [1, 3, 6, 7])
        #expect(try instructions(compacted) == [4, 2, 1, 2])
    }

    @Test(
        "An older erasure goes, one with a newer stamp stays: it may win where the last one loses"
    )
    func severalErasures() throws {
        let older = DownloadCompaction.compact([
            entry(1, at: 10, Tasks.erase(7)), entry(2, at: 11, Tasks.create(7, title: "a")),
            entry(3, at: 12, Tasks.erase(7)),
        ])
        #expect(older.map(\.cursor.serverVersion.rawValue) == [3])
        let newer = DownloadCompaction.compact([
            entry(1, at: 30, Tasks.erase(7)), entry(2, at: 11, Tasks.create(7, title: "a")),
            entry(3, at: 12, Tasks.erase(7)),
        ])
        #expect(newer.map(\.cursor.serverVersion.rawValue) == [1, 3])
    }

    @Test("A replaced value is left out, unless its stamp is the newer one")
    func replacedValues() throws {
        let compacted = DownloadCompaction.compact([
            entry(1, at: 10, Tasks.create(7, title: "a")), entry(2, at: 11, Tasks.setTitle(7, "b")),
            entry(3, at: 12, Tasks.setTitle(7, "c")),
        ])
        #expect(compacted.map(\.cursor.serverVersion.rawValue) == [1, 3])
        // The object is still made where it was; sizes before are remembered.
        #expect(try instructions(compacted) == [1, 1])
        #expect(compacted[0].originalSizeInBytes > UInt64(compacted[0].bytes.count))
        #expect(compacted[0].originTimestamp == OriginTimestamp(10))
        let skewed = [
            entry(1, at: 30, Tasks.setTitle(7, "b")), entry(2, at: 12, Tasks.setTitle(7, "c")),
        ]
        #expect(DownloadCompaction.compact(skewed) == skewed)
    }

    @Test("Counters, lists and the schema are never touched, nor values that they build on")
    func untouched() throws {
        func set(_ value: Int64) -> [UInt8] {
            var writer = ChangesetWriter()
            writer.update(Tasks.object(7), "count", to: .scalar(.int(value)))
            return writer.bytes
        }
        let changesets = [
            entry(1, at: 10, Tasks.schema), entry(2, at: 11, Tasks.addColumn("more", .int)),
            entry(3, at: 12, set(1)), entry(4, at: 13, Tasks.count(7, 1)),
            entry(5, at: 14, Tasks.count(7, 1)), entry(6, at: 15, Tasks.appendTag(7, "x", at: 0)),
            entry(7, at: 16, Tasks.appendTag(7, "y", at: 1)), entry(8, at: 17, set(5)),
        ]
        #expect(DownloadCompaction.compact(changesets) == changesets)
    }

    @Test("A number that takes the place of another kind of value keeps it: increments meet both")
    func increments() throws {
        func set(_ value: ChangesetWriter.Content) -> [UInt8] {
            var writer = ChangesetWriter()
            writer.update(Tasks.object(7), "any", to: value)
            return writer.bytes
        }
        let mixed = [
            entry(1, at: 10, set(.scalar(.string("s")))), entry(2, at: 11, set(.scalar(.int(5)))),
        ]
        #expect(DownloadCompaction.compact(mixed) == mixed)
        let numbers = [
            entry(1, at: 10, set(.scalar(.int(1)))), entry(2, at: 11, set(.scalar(.int(5)))),
        ]
        #expect(DownloadCompaction.compact(numbers) == [numbers[1]])
    }

    @Test("Bytes that are not a changeset stay, with the other changesets")
    func damaged() {
        let changesets = [
            entry(1, at: 10, Tasks.setTitle(7, "b")), entry(2, at: 12, [0xff, 0xff]),
            entry(3, at: 12, Tasks.setTitle(7, "c")),
        ]
        #expect(DownloadCompaction.compact(changesets) == changesets)
    }

    // MARK: Properties

    /// A history of two peers over the whole model, and what a third one has written meanwhile.
    private struct Scene {
        let base: InMemoryRealm
        let history: [DownloadChangeset]
        let local: InMemoryRealm
        let ours: [MergeOperand]

        init(seed: UInt64) throws {
            var random = SplitMix64(seed: seed)
            var base = InMemoryRealm()
            try base.apply(try RandomTransactions.baseChangeset)
            self.base = base
            let properties = base.schema["Thing"]?.properties.map(\.name) ?? []
            let focus = Set(properties.shuffled(using: &random).prefix(2))

            func transaction(
                _ peer: Int,
                on realm: InMemoryRealm
            ) throws -> (Changeset, InMemoryRealm) {
                var transactions = RandomTransactions(
                    seed: random.next(),
                    peer: peer,
                    settled: base,
                    focus: focus
                )
                let (changeset, result) = try transactions.transaction(on: realm)
                return (changeset, result)
            }
            // Clocks are off by more than what lies between two changes.
            func time(_ now: UInt64) -> UInt64 { now - UInt64.random(in: 0...40, using: &random) }

            var realm = base
            var history: [DownloadChangeset] = []
            for version in 1...UInt64(30) {
                let peer = Int.random(in: 0...1, using: &random)
                let (changeset, result) = try transaction(peer, on: realm)
                realm = result
                let bytes = changeset.encoded()
                guard !bytes.isEmpty else { continue }
                history.append(
                    DownloadChangeset(
                        cursor: downloadCursor(version, 0),
                        originTimestamp: OriginTimestamp(time(100 + version * 3)),
                        originFileIdent: FileIdent(UInt64(peer) + 2),
                        originalSizeInBytes: UInt64(bytes.count),
                        bytes: bytes
                    )
                )
            }
            self.history = history
            var local = base
            var ours: [MergeOperand] = []
            for step in 0..<UInt64.random(in: 0...6, using: &random) {
                let (changeset, result) = try transaction(2, on: local)
                local = result
                let stamp = Stamp(timestamp: time(100 + step * 15), fileIdent: 4)
                ours.append(MergeOperand(changeset: changeset, stamp: stamp))
            }
            self.local = local
            self.ours = ours
        }

        /// The client's objects in the end.
        func result(of downloaded: [DownloadChangeset]) throws -> InMemoryRealm {
            var ours = ours
            var theirs = try downloaded.map { entry in
                MergeOperand(
                    changeset: try Changeset(decoding: entry.bytes),
                    stamp: Stamp(
                        timestamp: entry.originTimestamp.rawValue,
                        fileIdent: entry.originFileIdent.rawValue
                    )
                )
            }
            try rebase(ours: &ours, theirs: &theirs)
            var realm = local
            for operand in theirs { try realm.apply(operand.changeset) }
            return realm
        }
    }

    @Test("The client ends with the same objects after any concurrent writes")
    func sameState() throws {
        var dropped = 0
        var merged = 0
        for seed in Self.seeds {
            let scene = try Scene(seed: seed)
            let compacted = DownloadCompaction.compact(scene.history)
            dropped +=
                try instructions(scene.history).reduce(0, +) - instructions(compacted).reduce(0, +)
            merged += scene.ours.count
            let expected = Result { try scene.result(of: scene.history) }
            let result = Result { try scene.result(of: compacted) }
            switch (expected, result) {
            case (.success(let expected), .success(let result)):
                #expect(expected == result, "seed \(seed)")
            case (.failure, _):
                // What does not merge at all is the server's to refuse.
                break
            case (.success, .failure(let error)):
                Issue.record("seed \(seed): \(error)")
            }
        }
        // Otherwise there was nothing to see.
        #expect(dropped > 10 && merged > 10)
    }

    @Test("New clients with writes before their first download converge with the others")
    func newcomers() async throws {
        var shorter = 0
        for seed in Self.seeds {
            let world = try await ServerFileWorld(downloadLimitInBytes: 4000, seed: seed)
            var random = SplitMix64(seed: seed)
            var clients = [ModelClient(try await world.client())]
            var time: UInt64 = 1000
            func write(_ index: Int, _ clients: inout [ModelClient]) throws {
                time += 3
                try clients[index].write(
                    at: time - UInt64.random(in: 0...60, using: &random),
                    using: &random
                )
            }
            for _ in 0..<60 { try write(0, &clients) }
            try await clients[0].upload(to: world)
            for _ in 0..<2 { clients.append(ModelClient(try await world.client())) }
            time -= 120
            for _ in 0..<12 { try write(Int.random(in: 1...2, using: &random), &clients) }
            let file = clients[1].file
            let batch = try await world.scan(for: file)
            shorter += batch.changesets.count {
                UInt64($0.bytes.count) < $0.originalSizeInBytes
            }
            for index in clients.indices {
                while try await !clients[index].downloadOnce(from: world) {}
                try await clients[index].upload(to: world)
            }
            for index in clients.indices {
                while try await !clients[index].downloadOnce(from: world) {}
            }
            let expected = try await world.realm()
            for client in clients { #expect(client.realm == expected, "seed \(seed)") }
        }
        #expect(shorter > 10)
    }

    private static let seeds: ClosedRange<UInt64> = {
        let count = ProcessInfo.processInfo.environment["REALM_SEEDS"].flatMap { UInt64($0) }
        return 1...(count ?? 40)
    }()
}
