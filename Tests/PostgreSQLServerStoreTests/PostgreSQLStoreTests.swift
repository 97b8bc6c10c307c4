import Changesets
import PostgreSQL
import PostgreSQLFixtures
import Schemas
import Scopes
import ServerFixtures
import ServerStore
import TestSupport
import Testing
import Versions

@testable import PostgreSQLServerStore

@Suite(
    "Store on PostgreSQL",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct PostgreSQLStoreTests {
    private struct Refusal: Error, Equatable {}

    let world: StoreWorld

    init() throws {
        world = try StoreWorld()
    }

    // MARK: Round trips (P1)

    /// The round trips of some work on a store with one lane.
    private func roundTrips(
        of store: PostgreSQLStore,
        _ body: () async throws -> Void
    ) async throws -> Int {
        let before = try await store.withConnection { $0.roundTrips }
        try await body()
        return try await store.withConnection { $0.roundTrips } - before
    }

    @Test("An upload of 1 000 objects takes two round trips, a scan one, an IDENT two")
    func roundTrips() async throws {
        let store = try await world.store(lanes: 1)
        let file = try await world.file(store)
        try await StoreWorld.upload([-1], into: file, store)
        let keys = Array(Int64(0)..<1000)
        let upload = try await roundTrips(of: store) {
            try await StoreWorld.upload(keys, into: file, store)
        }
        #expect(upload == 2)
        #expect(try world.count("SELECT count(*) FROM object") == 1001)

        let scan = try await roundTrips(of: store) {
            let reads = ExpectedReads(
                file: .id(file),
                client: FileIdent(3),
                hasSchema: true,
                history: ExpectedReads.History(after: .zero, reader: FileIdent(3))
            )
            let entries = try await store.read(expecting: reads) { snapshot in
                let stored = try snapshot.file(file)
                _ = try snapshot.clientFile(FileIdent(3), in: file)
                _ = try snapshot.schema(of: file)
                var count = 0
                try snapshot.forEachEntry(of: file, after: .zero, readBy: FileIdent(3)) {
                    entry throws(StoreError) in
                    count += entry.changeset.isEmpty ? 0 : 1
                    return .next
                }
                _ = try snapshot.salt(of: stored?.currentVersion ?? .zero, in: file)
                return count
            }
            #expect(entries == 2)
        }
        #expect(scan == 1)

        let ident = try await roundTrips(of: store) {
            let reads = ExpectedReads(
                file: .id(file),
                client: StoreWorld.ident,
                salts: [ServerVersion(1)]
            )
            try await store.write(.file(file), expecting: reads) { transaction in
                _ = try transaction.file(file)
                #expect(try transaction.salt(of: ServerVersion(1), in: file) != nil)
                var client = try #require(
                    try transaction.clientFile(StoreWorld.ident, in: file)
                )
                client.sessionEpoch = 99
                try transaction.put(client, in: file)
            }
        }
        #expect(ident == 2)
    }

    @Test("A read that asks for more than it expected has the same result")
    func unexpectedReads() async throws {
        let store = try await world.store(lanes: 1)
        let file = try await world.file(store)
        try await StoreWorld.upload([1, 2, 3], into: file, store, expecting: false)
        for reads in [ExpectedReads.none, ExpectedReads(file: .id(file), client: FileIdent(9))] {
            let found = try await store.read(expecting: reads) { snapshot in
                (
                    try snapshot.file(file)?.currentVersion,
                    try snapshot.document(StoreWorld.object(2), in: file) != nil,
                    try snapshot.clientFile(FileIdent(9), in: file)
                )
            }
            #expect(found.0 == ServerVersion(1))
            #expect(found.1)
            #expect(found.2 == nil)
        }
    }

    // MARK: Batches (P5)

    /// Writes of a file that wait until a first one lets them go together.
    private func batch(
        _ store: PostgreSQLStore,
        _ file: ServerFileID,
        _ bodies: [@Sendable (any StoreTransaction) throws -> Void]
    ) async throws -> [Result<Void, any Error>] {
        let gate = Shared(false)
        return try await withThrowingTaskGroup(of: (Int, Result<Void, any Error>).self) { group in
            group.addTask {
                try await store.write(.file(file)) { _ in
                    for _ in 0..<60_000 where !gate.value { usleepBriefly() }
                }
                return (-1, .success(()))
            }
            try await until { store.waitingWrites(of: file) == 1 }
            for (index, body) in bodies.enumerated() {
                group.addTask {
                    do {
                        try await store.write(.file(file), body)
                        return (index, .success(()))
                    } catch {
                        return (index, .failure(error))
                    }
                }
                try await until { store.waitingWrites(of: file) == index + 2 }
            }
            gate.change { $0 = true }
            var results = [Result<Void, any Error>?](repeating: nil, count: bodies.count)
            for try await (index, result) in group where index >= 0 { results[index] = result }
            return results.compactMap { $0 }
        }
    }

    @Test("Writes that wait share a transaction: one that throws leaves nothing")
    func batches() async throws {
        let store = try await world.store()
        let file = try await world.file(store)
        let before = try world.count("SELECT txid_current()")
        let results = try await batch(
            store,
            file,
            (Int64(0)..<20).map { number in
                { transaction in
                    _ = try StoreWorld.upload([number], into: file, transaction)
                    if number % 3 == 0 { throw Refusal() }
                }
            }
        )
        for (number, result) in results.enumerated() {
            switch result {
            case .success: #expect(number % 3 != 0)
            case .failure(let error): #expect(error as? Refusal == Refusal() && number % 3 == 0)
            }
        }
        #expect(try world.count("SELECT count(*) FROM object") == 13)
        #expect(try world.count("SELECT max(version) FROM history") == 13)
        // The first write, the batch, and the two questions.
        #expect(try world.count("SELECT txid_current()") - before <= 4)
    }

    @Test("A write that the database refuses fails alone, and its neighbours commit")
    func offender() async throws {
        let store = try await world.store()
        let file = try await world.file(store)
        let results = try await batch(
            store,
            file,
            (Int64(0)..<5).map { number in
                { transaction in
                    _ = try StoreWorld.upload([number], into: file, transaction)
                    guard number == 2 else { return }
                    let object = StoreWorld.object(100)
                    try transaction.putDocument(Array("not JSON".utf8), of: object, in: file)
                }
            }
        )
        for (number, result) in results.enumerated() {
            switch result {
            case .success: #expect(number != 2)
            case .failure(let error):
                #expect((error as? StoreError)?.kind == .unacceptable && number == 2)
            }
        }
        #expect(try world.count("SELECT count(*) FROM object") == 4)
        #expect(try world.count("SELECT max(version) FROM history") == 4)
    }

    @Test("A write that needs its own transaction gets one, in its place")
    func ownTransaction() async throws {
        let store = try await world.store()
        let file = try await world.file(store)
        let seen = Shared<[Int]>([])
        let results = try await batch(
            store,
            file,
            (Int64(0)..<5).map { number in
                { transaction in
                    _ = try StoreWorld.upload([number], into: file, transaction)
                    guard number == 2 else { return }
                    let count = try transaction.objectCounts(in: file)["Task"]
                    seen.change { $0.append(count ?? 0) }
                }
            }
        )
        #expect(results.count == 5)
        for result in results { try result.get() }
        #expect(seen.value == [3])
        #expect(try world.count("SELECT count(*) FROM object") == 5)
    }

    // MARK: Several processes (P3, P4, P14)

    @Test("Versions have no gap when three processes write to one file")
    func processes() async throws {
        let stores = [
            try await world.store(lanes: 3), try await world.store(lanes: 3),
            try await world.store(lanes: 3),
        ]
        let file = try await world.file(stores[0])
        let versions = try await withThrowingTaskGroup(of: [ServerVersion].self) { group in
            for client in 0..<100 {
                group.addTask {
                    var versions: [ServerVersion] = []
                    for round in 0..<3 {
                        let store = stores[(client + round) % 3]
                        let key = Int64(client * 10 + round)
                        let version = try await StoreWorld.upload(
                            [key],
                            into: file,
                            store,
                            expecting: round > 0
                        )
                        versions.append(version)
                    }
                    return versions
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(versions.sorted() == (1...300).map { ServerVersion($0) })
        let stored = try world.count(
            "SELECT count(*) FROM history WHERE version BETWEEN 1 AND 300"
        )
        #expect(stored == 300)
        #expect(try world.count("SELECT count(*) FROM object") == 300)
        // Versions of one connection have one salt; none is used by two.
        let entries = try await stores[1].read { snapshot in
            var entries: [HistoryEntry] = []
            try snapshot.forEachEntry(of: file, after: .zero, readBy: FileIdent(9)) {
                entry throws(StoreError) in
                entries.append(entry)
                return .next
            }
            return entries
        }
        #expect(entries.map(\.version.version) == (1...300).map { ServerVersion($0) })
        #expect(Set(entries.map(\.version.salt)).count <= 9)
        for store in stores { await store.close() }
    }

    @Test("A file that another process has keeps one lane, and writes of other files overlap")
    func overlap() async throws {
        let store = try await world.store(lanes: 2)
        let first = try await world.file(store, .int(1))
        let second = try await world.file(store, .int(2))
        let other = try world.database.connect()
        try other.execute(
            "BEGIN; SELECT FROM realm.server_file WHERE file_id = \(first.rawValue) FOR UPDATE"
        )
        try await withThrowingTaskGroup { group in
            for key in Int64(0)..<8 {
                group.addTask { try await StoreWorld.upload([key], into: first, store) }
            }
            try await until { store.waitingWrites(of: first) == 8 }
            for key in Int64(0)..<20 { try await StoreWorld.upload([key], into: second, store) }
            #expect(store.waitingWrites(of: first) == 8)
            let waiting = try world.count(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
            )
            #expect(waiting <= 1)
            try other.execute("ROLLBACK")
            try await group.waitForAll()
        }
        #expect(try world.count("SELECT count(*) FROM object") == 28)
    }

    @Test("Sixteen busy files do not stop a seventeenth")
    func busyFiles() async throws {
        let store = try await world.store(lanes: 4)
        var files: [ServerFileID] = []
        for number in Int64(0)...16 { files.append(try await world.file(store, .int(number))) }
        let isDone = Shared(false)
        try await withThrowingTaskGroup { [files] group in
            for file in files.dropLast() {
                group.addTask {
                    var key = Int64(0)
                    while !isDone.value {
                        try await StoreWorld.upload([key], into: file, store)
                        key += 1
                    }
                }
            }
            for key in Int64(0)..<20 { try await StoreWorld.upload([key], into: files[16], store) }
            isDone.change { $0 = true }
            try await group.waitForAll()
        }
    }

    @Test("A process that freezes with a file loses its connection, and cannot commit")
    func frozen() async throws {
        let frozen = try await world.store(lanes: 1) { target, _ in
            target.limits.idleInTransaction = .seconds(1)
        }
        let store = try await world.store { target, _ in target.limits.lock = .milliseconds(300) }
        let file = try await world.file(store)
        let runs = Shared(0)
        let hasFile = Shared(false)
        try await withThrowingTaskGroup { group in
            group.addTask {
                await #expect(throws: Refusal()) {
                    try await frozen.write(.file(file)) { transaction in
                        runs.change { $0 += 1 }
                        // Runs again on another connection: only the first run freezes.
                        guard runs.value == 1 else { throw Refusal() }
                        _ = try StoreWorld.upload([1], into: file, transaction)
                        hasFile.change { $0 = true }
                        for _ in 0..<2500 { usleepBriefly() }
                    }
                }
            }
            try await until { hasFile.value }
            try await StoreWorld.upload([2], into: file, store)
            try await group.waitForAll()
        }
        #expect(runs.value == 2)
        #expect(try world.count("SELECT count(*) FROM object") == 1)
        #expect(try world.count("SELECT count(*) FROM history") == 1)
    }

    // MARK: Values (P7)

    @Test("A transaction may write more than it buffers: all of it is committed, or nothing")
    func longTransaction() async throws {
        let store = try await world.store(lanes: 2)
        let file = try await world.file(store)
        let text = String(repeating: "x", count: 1 << 20)
        let document = Array(#"{"title":"\#(text)"}"#.utf8)
        let count = PostgreSQLTransaction.bufferedAtMost / document.count * 2 + 2
        @Sendable func object(_ key: Int) -> ObjectReference {
            ObjectReference(className: "Task", key: .int(Int64(key)))
        }
        func write(throwing: Bool) async throws {
            try await store.write(.app(StoreWorld.app)) { transaction in
                let own = try #require(transaction as? PostgreSQLTransaction)
                for key in 0..<count {
                    try transaction.putDocument(document, of: object(key), in: file)
                    #expect(
                        own.buffer[file].documents.sizeInBytes
                            <= PostgreSQLTransaction.bufferedAtMost
                    )
                }
                // Reads see what was sent, and what is removed.
                #expect(try transaction.document(object(0), in: file) != nil)
                try transaction.removeDocument(object(0), in: file)
                #expect(try transaction.document(object(0), in: file) == nil)
                if throwing { throw Refusal() }
            }
        }
        func stored() async throws -> Int? {
            try await store.read { try $0.objectCounts(in: file)["Task"] }
        }
        await #expect(throws: Refusal.self) { try await write(throwing: true) }
        #expect(try await stored() == nil)
        try await write(throwing: false)
        #expect(try await stored() == count - 1)
        await store.close()
    }

    @Test("Keys of 3 000 random bytes and of a MB are found, in both directions")
    func longKeys() async throws {
        let store = try await world.store()
        let file = try await world.file(store)
        var random = SplitMix64(seed: 7)
        let keys = [3000, 3000, 512, 511, 1_000_000].map { count in
            ObjectKey.string(
                Text(bytes: (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) })
            )
        }
        try await store.write(.file(file)) { transaction in
            for (number, key) in keys.enumerated() {
                let object = ObjectReference(className: "Task", key: key)
                try transaction.putDocument(
                    StoreWorld.document(Int64(number)),
                    of: object,
                    in: file
                )
            }
        }
        let found = try await store.read { snapshot in
            var found: [ObjectKey] = []
            try snapshot.forEachDocument(of: "Task", in: file) { key, _ throws(StoreError) in
                found.append(key)
                return .next
            }
            for key in found {
                var next: ObjectKey?
                try snapshot.forEachDocument(of: "Task", in: file, after: key) {
                    key,
                    _ throws(StoreError) in
                    next = key
                    return .stop
                }
                let position = try #require(found.firstIndex(of: key))
                #expect(next == (position + 1 < found.count ? found[position + 1] : nil))
            }
            return try found.filter { key in
                let object = ObjectReference(className: "Task", key: key)
                return try snapshot.document(object, in: file) != nil
            }
        }
        #expect(Set(found) == Set(keys))
        try await store.write(.file(file)) { transaction in
            for key in keys {
                let object = ObjectReference(className: "Task", key: key)
                try transaction.removeDocument(object, in: file)
            }
        }
        #expect(try world.count("SELECT count(*) FROM object") == 0)
    }

    @Test("U+0000 and names above the limit are unacceptable, and fail no transaction of others")
    func names() async throws {
        let store = try await world.store()
        let app = StoreWorld.app
        for name in ["a\0b", String(repeating: "x", count: StorableName.limitInBytes + 1)] {
            let error = try await #require(throws: StoreError.self) {
                try await store.write(.accounts(app)) { transaction in
                    let identity = Identity(id: name, provider: .customToken, email: "")
                    try transaction.insert(identity, for: StoreWorld.user, of: app)
                }
            }
            #expect(error.kind == .unacceptable)
        }
        let error = try await #require(throws: StoreError.self) {
            try await store.read {
                try $0.user(identifiedBy: .customToken, "a\0b", of: app)
            }
        }
        #expect(error.kind == .unacceptable)
    }

    // MARK: Sessions

    @Test("A session that was told more than the database knows gets changed, its neighbours not")
    func guards() async throws {
        let store = try await world.store()
        let file = try await world.file(store)
        try await StoreWorld.upload([1], into: file, store)
        let salt = Salt(try UInt64(world.count("SELECT version_salt FROM history")))
        func session(_ version: UInt64, _ salt: Salt) -> SessionGuard {
            SessionGuard(
                client: ClientFileID(file: file, ident: StoreWorld.ident),
                generation: 0,
                clientVersion: ClientVersion(1),
                sessionEpoch: 1,
                newest: SaltedServerVersion(version: ServerVersion(version), salt: salt)
            )
        }
        try await store.write(.file(file), guarding: session(1, salt)) { _ in }
        try await store.read(guarding: session(1, salt)) { _ in }
        for wrong in [session(2, salt), session(1, Salt(salt.rawValue ^ 1))] {
            let write = try await #require(throws: StoreError.self) {
                try await store.write(.file(file), guarding: wrong) { _ in }
            }
            #expect(write.kind == .changed)
            let read = try await #require(throws: StoreError.self) {
                try await store.read(guarding: wrong) { _ in }
            }
            #expect(read.kind == .changed)
        }
    }

    // MARK: Held states

    @Test("Two states are held at a time, and each for a limited time")
    func heldStates() async throws {
        let store = try await world.store { _, options in options.holdLimit = .milliseconds(300) }
        let file = try await world.file(store)
        let error = try await #require(throws: StoreError.self) {
            try await store.holdingState { held in
                for _ in 0..<60_000 {
                    _ = try await held.read { try $0.file(file) }
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        }
        #expect(error.kind == .failed)
        let open = Shared((now: 0, most: 0))
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 {
                group.addTask {
                    try await store.holdingState { held in
                        open.change { $0.now += 1 }
                        open.change { $0.most = max($0.most, $0.now) }
                        _ = try await held.read { try $0.file(file) }
                        open.change { $0.now -= 1 }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(open.value.most <= 2)
    }
}
