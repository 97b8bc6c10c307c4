import FoundationEssentials
import Glibc
import SQLite
import SyncProtocol
import TestSupport
import Testing
import Versions

@testable import SQLiteServerStore
@testable import ServerAccounts
@testable import ServerStore
@testable import SyncServer

@Suite("Extreme values in the server's store", .timeLimit(.minutes(10)))
struct ExtremeNumbersTests {
    /// A realm with a snapshot, clients, history and a user with log-ins.
    private static func world(_ store: SQLiteStore) async throws -> ServerFileWorld {
        try await ServerFileWorld(
            downloadLimitInBytes: 1,
            snapshots: SnapshotPolicy(historySizeInBytes: 1, ratio: 1, changesetSizeInBytes: 60),
            store: store
        )
    }

    private static func prepare(_ path: String) async throws {
        let store = try await SQLiteStore(.file(path: path))
        let apps = try await TestApps(store: store)
        _ = await apps.logInAnonymously()
        _ = await apps.register("a@example.com", "123456")
        let world = try await world(store)
        let writer = try await world.client()
        try await world.upload([upload(2, on: 0)], by: writer)
        try await world.upload(
            (0..<4).map { upload(3 + $0, on: 0, Tasks.create(Int64($0), title: "t\($0)")) },
            by: writer
        )
        try await world.upload(
            (0..<20).map { upload(10 + $0, on: 0, Tasks.setTitle(Int64($0 % 4), "t\($0)")) },
            by: writer
        )
        _ = try await world.client()
        await store.close()
    }

    /// All that clients, the clock and an operator let a server do. Errors are answers.
    private static func use(_ path: String) async {
        guard let store = try? await SQLiteStore(.file(path: path)) else { return }
        if let apps = try? await TestApps(store: store) {
            let token = await apps.logInAnonymously().fields["refresh_token"]
            _ = await apps.call("POST", "/auth/session", token: token)
            _ = await apps.call("GET", "/auth/profile", token: token)
            _ = await apps.register("b@example.com", "123456")
            try? await apps.accounts.removeExpired()
        }
        if let world = try? await world(store) {
            for ident in 2...3 {
                let file = FileIdent(UInt64(ident))
                let known = try? await store.read { [id = world.file] in
                    try $0.clientFile(file, in: id)
                }
                guard let known else { continue }
                if let client = try? await world.identify(known.salted) {
                    _ = try? await world.upload([upload(90, on: 0, Tasks.erase(2))], by: client)
                    _ = try? await world.scan(for: client)
                }
            }
            if let client = try? await world.client() {
                _ = try? await world.upload([upload(9, on: 0, Tasks.erase(1))], by: client)
                _ = try? await world.scan(for: client)
            }
            let limit: Int64 = 1000
            try? await world.engine.upkeep.trim(
                ServerFileWorld.app,
                offlineLimitInMilliseconds: limit,
                connected: []
            )
            try? await world.engine.upkeep.terminate(ServerFileWorld.app)
        }
        await store.close()
    }

    /// The tables of a new store.
    private static func columns(_ path: String) throws -> [TablePoison.Column] {
        let connection = try Connection(path: path)
        defer { connection.close() }
        return try TablePoison.columns(of: connection)
    }

    @Test("Every column of every table, one by one", arguments: [0, 3, 6, 9])
    func everyColumn(first: Int) async throws {
        await #expect(processExitsWith: .success) {
            [first = first as Int] in
            let directory = try TemporaryDirectory(isInMemory: true)
            let template = directory.file("template.sqlite")
            try await ExtremeNumbersTests.prepare(template)
            let path = directory.file("server.sqlite")
            var count = 0
            for column in try ExtremeNumbersTests.columns(template) {
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
                try FileManager.default.copyItem(atPath: template, toPath: path)
                let file = try Connection(path: path)
                let changed = try TablePoison.poison(column, from: first, on: file)
                file.close()
                guard changed > 0 else { continue }
                await ExtremeNumbersTests.use(path)
                count += 1
            }
            print("\(count) stores")
            exit(count > 20 ? 0 : 1)
        }
    }
}
