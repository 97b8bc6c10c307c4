import Changesets
import Scopes
import ServerFixtures
import Synchronization
import Testing
import Versions

@testable import ServerStore

/// The wrappers that the suites of the server run on, so that they keep finding what they are for.
@Suite("Stores that are strict")
struct StrictStoreTests {
    private let app = AppID.named("shop-abcde")
    private let other = AppID.named("office-fghij")

    @Test("A body runs twice, and leaves what one run leaves")
    func twice() async throws {
        let store = try await GuardingStore.strictInMemory()
        let runs = Mutex(0)
        let file = try await store.write(.app(app)) { [app] transaction in
            runs.withLock { $0 += 1 }
            return try transaction.makeFile(of: app, .string("a"))
        }
        #expect(runs.withLock(\.self) == 2)
        let ident = try await store.write(.file(file.id)) { try $0.takeFileIdent(in: file.id) }
        let next = try await store.write(.file(file.id)) { try $0.takeFileIdent(in: file.id) }
        #expect(ident == FileIdent(2))
        #expect(next == FileIdent(3))
        let reads = Mutex(0)
        try await store.read { _ in reads.withLock { $0 += 1 } }
        #expect(reads.withLock(\.self) == 2)
    }

    @Test("An effect beside the transaction happens twice, so that a suite sees it")
    func effects() async throws {
        let store = try await GuardingStore.strictInMemory()
        let made = Mutex<[ServerFileID]>([])
        try await store.write(.app(app)) { [app] transaction in
            let file = try transaction.makeFile(of: app, .string("a"))
            made.withLock { $0.append(file.id) }
        }
        #expect(made.withLock(\.count) == 2)
    }

    @Test("Writes outside the scope are rejected, and those within are made")
    func scopes() async throws {
        let store = try await GuardingStore.strictInMemory()
        func isWithin(
            _ scope: WriteScope,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Void
        ) async throws -> Bool {
            do {
                try await store.write(scope, body)
                return true
            } catch let error as StoreError where error.message.contains("outside its scope") {
                return false
            }
        }
        let (a, b) = try await store.write(.app(app)) { [app] transaction in
            let a = try transaction.makeFile(of: app, .string("a"))
            return (a.id, try transaction.makeFile(of: app, .string("b")).id)
        }
        let partition = WriteScope.partition(app, .string("a"))
        let user = UserID("u")

        let within = [
            try await isWithin(.file(a)) { try $0.putSchema(try $0.schema(of: a), of: a) },
            try await isWithin(partition) { _ = try $0.takeFileIdent(in: a) },
            try await isWithin(partition) { [app] in _ = try $0.makeFile(of: app, .string("a")) },
            try await isWithin(.app(app)) { _ = try $0.takeFileIdent(in: b) },
            try await isWithin(.accounts(app)) { [app] in try $0.removeUser(user, of: app) },
            try await isWithin(.app(app)) { [app] in try $0.setSyncState(.paused, of: app) },
        ]
        #expect(within.allSatisfy { $0 }, "\(within)")

        let outside = [
            try await isWithin(.file(a)) { _ = try $0.takeFileIdent(in: b) },
            try await isWithin(partition) { _ = try $0.takeFileIdent(in: b) },
            try await isWithin(partition) { [app] in _ = try $0.makeFile(of: app, .string("c")) },
            try await isWithin(.accounts(app)) { _ = try $0.takeFileIdent(in: a) },
            try await isWithin(.app(other)) { _ = try $0.takeFileIdent(in: a) },
            try await isWithin(.file(a)) { [app] in try $0.removeUser(user, of: app) },
            try await isWithin(.accounts(other)) { [app] in try $0.removeUser(user, of: app) },
            try await isWithin(.accounts(app)) { [app] in try $0.setSyncState(.paused, of: app) },
        ]
        #expect(!outside.contains(true), "\(outside)")
    }

    @Test("The guard of a session is compared with the store")
    func guards() async throws {
        let store = try await GuardingStore.strictInMemory()
        let file = try await store.write(.app(app)) { [app] transaction in
            let file = try transaction.makeFile(of: app, .string("a")).id
            try transaction.put(
                ClientFile(
                    ident: FileIdent(2),
                    salt: Salt(1),
                    owner: UserID("u"),
                    generation: 0,
                    sessionEpoch: 5,
                    lastSeenAt: 0
                ),
                in: file
            )
            return file
        }
        func told(_ version: UInt64) -> SessionGuard {
            SessionGuard(
                client: ClientFileID(file: file, ident: FileIdent(2)),
                generation: 0,
                clientVersion: ClientVersion(version),
                sessionEpoch: 5,
                newest: nil
            )
        }
        try await store.read(guarding: told(0)) { _ in }
        try await store.write(.file(file), guarding: told(0)) { _ in }
        let read = await #expect(throws: StoreError.self) {
            try await store.read(guarding: told(1)) { _ in }
        }
        let write = await #expect(throws: StoreError.self) {
            try await store.write(.file(file), guarding: told(1)) { _ in }
        }
        #expect(read?.kind == .changed)
        #expect(write?.kind == .changed)
    }
}
