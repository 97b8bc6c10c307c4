import PostgreSQL
import PostgreSQLFixtures
import Scopes
import ServerFixtures
import SyncProtocol
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// Sync history, 17; server on PostgreSQL, 6.3.
@Suite("Terminations of sync", .serialized, .timeLimit(.minutes(5)))
struct TerminationTests {
    private static let kinds = StoreKind.allCases.filter { $0 != .sqliteFile }

    private func world(_ kind: StoreKind) async throws -> ServerFileWorld {
        try await ServerFileWorld(store: try await kind.makeStore())
    }

    private func fill(_ world: ServerFileWorld, by writer: ClientFile) async throws {
        try await world.upload([upload(2, on: 0)], by: writer)
        try await world.upload(
            (0..<20).map { upload(3 + $0, on: 0, Tasks.create(Int64($0), title: "t\($0)")) },
            by: writer
        )
    }

    private func expectState(of world: ServerFileWorld, at client: ClientFile) async throws {
        var model = ModelClient(client)
        while try await !model.downloadOnce(from: world) {}
        #expect(try await model.realm == world.realm())
    }

    @Test(
        "P10 After a termination no old client can bind, and new ones get the state",
        arguments: kinds
    )
    func restart(kind: StoreKind) async throws {
        let world = try await world(kind)
        let old = try await world.client()
        try await fill(world, by: old)
        let latest = try await world.scan(for: old).progress.latestServerVersion
        let before = try await world.realm()
        // What ends the call: the job may never run.
        try await world.engine.upkeep.terminate(ServerFileWorld.app)

        #expect(try await world.engine.scan(for: old.ident, from: .zero, in: world.file) == nil)
        await #expect(throws: IntegrationRefusal.unknownClientFile) {
            try await world.upload([upload(30, on: 0, Tasks.create(99, title: "late"))], by: old)
        }
        await #expect(throws: SessionFault.badClientFileIdent) {
            try await world.identify(old.salted, latest: latest)
        }
        #expect(try await world.realm() == before)

        let fresh = try await world.client()
        #expect(fresh.generation > old.generation)
        #expect(fresh.snapshotVersion > latest.version)
        try await expectState(of: world, at: fresh)
        try await world.upload([upload(3, on: 0, Tasks.create(50, title: "new"))], by: fresh)
        try await expectState(of: world, at: try await world.client())
    }

    @Test("P10 A termination of 1 000 files is one statement, of any size")
    func many() async throws {
        guard PostgreSQLInstallation.isRequiredOrPresent else { return }
        let database = try PostgreSQLStores.database()
        try await PostgreSQLStores.withStore(in: database) { store in
            let world = try await ServerFileWorld(store: store, isStrict: false)
            let old = try await world.client()
            try await fill(world, by: old)
            let direct = try database.connect()
            try direct.execute(
                """
                INSERT INTO realm.server_file (app_id, partition, current_version)
                SELECT 'shop-abcde', '"p' || n || '"', 5 FROM generate_series(1, 1000) n
                """
            )
            let before = try direct.run("SELECT sum(xmin::text::int8)::int8 FROM realm.server_file")
            try await world.engine.upkeep.terminate(ServerFileWorld.app)
            // No row of a file was written.
            let after = try direct.run("SELECT sum(xmin::text::int8)::int8 FROM realm.server_file")
            #expect(try after.integer(0, 0) == before.integer(0, 0))
            // Each of them is void all the same.
            let files = try await store.read { try $0.files(of: ServerFileWorld.app) }
            #expect(files.count == 1001)
            #expect(files.allSatisfy { $0.generation == 1 })
            await #expect(throws: SessionFault.badClientFileIdent) {
                try await world.identify(old.salted)
            }
            // The job begins with those that no client needs.
            try await world.engine.upkeep.removeRemains(of: ServerFileWorld.app)
            let behind = try direct.run(
                "SELECT count(*) FROM realm.server_file WHERE generation < 1"
            )
            #expect(try behind.integer(0, 0) == 0)
        }
    }

    @Test("The job removes what is void, and nothing else", arguments: kinds)
    func remains(kind: StoreKind) async throws {
        let world = try await world(kind)
        let old = try await world.client()
        try await fill(world, by: old)
        try await world.engine.upkeep.terminate(ServerFileWorld.app)
        let fresh = try await world.client()
        try await world.upload([upload(3, on: 0, Tasks.create(50, title: "new"))], by: fresh)
        let before = try await world.realm()
        for _ in 0..<2 { try await world.engine.upkeep.removeRemains(of: ServerFileWorld.app) }

        let (left, versions, size) = try await world.store.read { [file = world.file] snapshot in
            var versions: [UInt64] = []
            try snapshot.forEachChangeset(of: file, in: .zero, after: .zero) { version, _ in
                versions.append(version.rawValue)
                return .next
            }
            let left = try snapshot.filesWithRemains(of: ServerFileWorld.app, after: nil, limit: 9)
            return (left, versions, try snapshot.historySize(of: ServerFileWorld.ann))
        }
        #expect(left == [])
        let file = try await world.serverFile()
        #expect(versions == [file.currentVersion.rawValue])
        #expect(size == Int64(file.historySizeInBytes))
        #expect(try await world.realm() == before)
        try await expectState(of: world, at: try await world.client())
    }

    @Test(
        "A file without content starts over, too, and a second termination voids the first's clients",
        arguments: kinds
    )
    func empty(kind: StoreKind) async throws {
        let world = try await world(kind)
        let first = try await world.client()
        try await world.upload([upload(2, on: 0)], by: first)
        for _ in 0..<2 {
            let previous = try await world.client()
            try await world.engine.upkeep.terminate(ServerFileWorld.app)
            await #expect(throws: SessionFault.badClientFileIdent) {
                try await world.identify(previous.salted)
            }
        }
        let fresh = try await world.client()
        try await expectState(of: world, at: fresh)
        try await world.engine.upkeep.removeRemains(of: ServerFileWorld.app)
        try await expectState(of: world, at: try await world.client())
        // Files that are made afterwards are of the generation from the start.
        let other = try await world.store.write(.partition(ServerFileWorld.app, .null)) {
            try $0.makeFile(of: ServerFileWorld.app, .null)
        }
        if kind == .postgreSQL { #expect(other.generation == fresh.generation) }
        #expect(other.baseVersion == .zero)
    }
}
