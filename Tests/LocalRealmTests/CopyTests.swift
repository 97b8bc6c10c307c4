import Changesets
import FoundationEssentials
import Glibc
import LocalRealm
import SQLite
import Schemas
import Scopes
import TestSupport
import Testing
import Versions

@Suite("Copies of realms (features, 11)")
struct CopyTests {
    static let other = RealmOwner(
        appID: "shop-abcde",
        userID: "till-8",
        scope: .partition(.string("store-42"))
    )
    static let elsewhere = RealmOwner(
        appID: "shop-abcde",
        userID: "till-7",
        scope: .partition(.string("store-43"))
    )

    private func makeCopy(_ form: RealmCopy.Form, _ source: String, _ destination: String) throws {
        _ = try RealmCopy(form, now: RealmFixture.instant).make(from: source, to: destination)
    }

    private func kind(_ body: () throws -> Void) -> LocalRealmError.Kind? {
        do { try body() } catch { return (error as? LocalRealmError)?.kind }
        return nil
    }

    private func files(_ directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    // MARK: C2

    @Test("The first upload of a copy for another partition is the source's whole content")
    func upload() throws {
        for seed in Seeds.some(15) {
            var world = RandomWorld(seed: seed, .whole)
            let source = try RealmFixture(world.schema)
            for _ in 0..<20 { try world.write(to: source) }
            _ = try source.realm.drain()

            // Directly, and by way of a non-synced file.
            let local = source.directory.file("local.sqlite")
            try makeCopy(.local, source.path, local)
            for path in [source.path, local] {
                let server = ServerModel()
                let copy = try RealmFixture(
                    .upload(Self.elsewhere),
                    of: path,
                    owner: Self.elsewhere
                )
                #expect(copy.realm.status.uploadableBytes > 0)
                try copy.realm.storeFileIdent(server.register())
                try copy.exchange(with: server)
                let expected = try TableContents(world.schema, source.connect())
                #expect(TableContents(server.state) == expected, "seed \(seed)")
                #expect(try TableContents(world.schema, copy.connect()) == expected)
                #expect(try copy.history().isEmpty)
            }
        }
    }

    @Test("A copy's first upload is cut into changesets that fit into messages")
    func largeUpload() throws {
        let source = try RealmFixture(.notes)
        let text = String(repeating: "x", count: 1 << 20)
        for key in 0..<20 {
            try source.connect().run(
                "INSERT INTO Note VALUES (?1, ?2)",
                [.integer(Int64(key)), .text(text)]
            )
        }
        let copy = try RealmFixture(
            .upload(Self.elsewhere),
            of: source.path,
            owner: Self.elsewhere
        )
        let server = ServerModel()
        try copy.realm.storeFileIdent(server.register())
        let sizes = try copy.connect().rows("SELECT size FROM _realm_history")
        #expect(sizes.count > 1)
        for case .integer(let size) in sizes.map({ $0[0] }) { #expect(size < 17 << 20) }
        // A message has a limit, so it takes several.
        for _ in sizes { try copy.exchange(with: server) }
        let isEqual =
            try TableContents(.notes, copy.connect()) == TableContents(server.state)
        #expect(isEqual)
        #expect(try copy.history().isEmpty)
    }

    // MARK: C6, C10

    @Test("A copy continues from its source's position, under its own ident, for any user")
    func replica() throws {
        let server = ServerModel()
        let source = try RealmFixture(.notes)
        try source.realm.storeFileIdent(server.register())
        try source.connect().execute("INSERT INTO Note VALUES (1, 'one')")
        let path = source.directory.file("copy.sqlite")
        let form = RealmCopy.Form.replica(userID: Self.other.userID)
        // Writes in the log count as much as those in the history.
        #expect(kind { try makeCopy(form, source.path, path) } == .pendingUploads)
        _ = try source.realm.drain()
        #expect(kind { try makeCopy(form, source.path, path) } == .pendingUploads)
        try source.exchange(with: server)
        #expect(try files(source.directory).filter { $0.hasPrefix("copy") } == [])

        let copy = try RealmFixture(form, of: source.path, owner: Self.other)
        let status = copy.realm.status
        #expect(status.fileIdent == .none)
        #expect(status.isAdoptedCopy)
        #expect(
            status.progress.download.serverVersion
                == source.realm.status.progress.download.serverVersion
        )
        #expect(status.progress.download.lastIntegratedClientVersion == .zero)
        #expect(try copy.history().isEmpty)

        try copy.realm.storeFileIdent(server.register())
        try copy.connect().execute("INSERT INTO Note VALUES (2, 'two')")
        try source.connect().execute("UPDATE Note SET text = 'uno' WHERE _id = 1")
        for _ in 0..<2 {
            try copy.exchange(with: server)
            try source.exchange(with: server)
        }
        let expected = TableContents(server.state)
        #expect(try TableContents(.notes, copy.connect()) == expected)
        #expect(try copy.rows("SELECT * FROM Note") == ["1|uno", "2|two"])
    }

    @Test("A seed becomes the realm of the user who starts from it, and fits no other partition")
    func seed() throws {
        let server = ServerModel()
        let source = try RealmFixture(.notes)
        try source.realm.storeFileIdent(server.register())
        try source.connect().execute("INSERT INTO Note VALUES (1, 'one')")
        try source.exchange(with: server)
        let seed = source.directory.file("seed.sqlite")
        try makeCopy(.replica(userID: nil), source.path, seed)

        let realm = try RealmFixture(.seed(Self.other), of: seed, owner: Self.other)
        #expect(try realm.rows("SELECT * FROM Note") == ["1|one"])
        #expect(realm.realm.status.progress.latestServerVersion.version == ServerVersion(1))
        let path = source.directory.file("no.sqlite")
        #expect(kind { try makeCopy(.seed(Self.elsewhere), seed, path) } == .wrongOwner)
        let local = source.directory.file("local.sqlite")
        try makeCopy(.local, source.path, local)
        #expect(kind { try makeCopy(.seed(.test), local, path) } == .wrongOwner)
        #expect(kind { try makeCopy(.replica(userID: "till-8"), local, path) } == .wrongOwner)
        // A seed with a pending first upload includes it.
        let unsynced = source.directory.file("unsynced.sqlite")
        try makeCopy(.upload(.test), local, unsynced)
        let beginning = try RealmFixture(.seed(Self.other), of: unsynced, owner: Self.other)
        #expect(try beginning.history().count == 1)
        try source.connect().execute("INSERT INTO Note VALUES (2, 'two')")
        #expect(kind { try makeCopy(.seed(.test), source.path, path) } == .pendingUploads)
    }

    // MARK: C1, C4

    @Test("A non-synced file keeps rows and checks, logs nothing, and is not synced by mistake")
    func local() throws {
        let server = ServerModel()
        let source = try RealmFixture(.everything)
        try source.realm.storeFileIdent(server.register())
        try source.connect().execute("INSERT INTO Int(_id, string) VALUES (1, 'one')")
        try source.exchange(with: server)
        try source.connect().execute("INSERT INTO Int(_id, string) VALUES (2, 'unsynced')")
        let local = source.directory.file("local.sqlite")
        try makeCopy(.local, source.path, local)

        let program = try Connection(path: local)
        #expect(try program.integer("SELECT count(*) FROM Int") == 2)
        try program.execute(
            """
            INSERT INTO Int(_id, string) VALUES (3, 'three');
            UPDATE Int SET string = 'uno', int = 7 WHERE _id = 1;
            INSERT OR REPLACE INTO Int(_id, string) VALUES (2, 'two');
            DELETE FROM Int WHERE _id = 3;
            """
        )
        #expect(try program.rows("SELECT _id, string FROM Int").count == 2)
        #expect(throws: SQLiteError.self) {
            try program.execute("UPDATE Int SET timestamp = 'tomorrow' WHERE _id = 1")
        }
        for table in ["_realm_capture", "_realm_history", "_realm_subscription"] {
            #expect(try program.integer("SELECT count(*) FROM \(table)") == 0)
        }
        #expect(try program.rows("SELECT app_id, user_id FROM _realm_state") == [["", ""]])
        #expect(try program.rows("PRAGMA journal_mode") == [["delete"]])
        program.close()
        #expect(kind { _ = try RealmFixture.open(local) } == .wrongOwner)
        // And again, local to local.
        let again = source.directory.file("again.sqlite")
        try makeCopy(.replica(userID: nil), local, again)
        let other = try Connection(path: again)
        try other.execute("INSERT INTO Int(_id) VALUES (9)")
        #expect(try other.integer("SELECT count(*) FROM _realm_capture") == 0)
    }

    @Test("Data removed from a copy cannot be found in its bytes")
    func noRemains() throws {
        let source = try RealmFixture(.notes)
        try source.connect().execute("INSERT INTO Note VALUES (1, 'the-secret-remark')")
        _ = try source.realm.drain()
        try source.connect().execute("DELETE FROM Note")
        let local = source.directory.file("local.sqlite")
        try makeCopy(.local, source.path, local)
        let bytes = try Data(contentsOf: URL(filePath: local))
        #expect(!String(decoding: bytes, as: UTF8.self).contains("the-secret-remark"))
    }

    // MARK: Never half a file

    @Test("An existing file stays, an interrupted copy's leftovers go, and nothing else is left")
    func place() throws {
        let source = try RealmFixture(.notes)
        let path = source.directory.file("copy.sqlite")
        try Data("mine".utf8).write(to: URL(filePath: path))
        #expect(kind { try makeCopy(.local, source.path, path) } == .fileExists)
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
        unlink(path)

        for suffix in [".partial", ".partial-journal", ".partial.lock"] {
            try Data(repeating: 7, count: 5000).write(to: URL(filePath: path + suffix))
        }
        try makeCopy(.local, source.path, path)
        #expect(try files(source.directory).filter { $0.hasPrefix("copy") } == ["copy.sqlite"])

        let absent = source.directory.file("absent/copy.sqlite")
        #expect(kind { try makeCopy(.local, source.path, absent) } == .cannotOpen)
        let garbage = source.directory.file("garbage")
        try Data(repeating: 7, count: 5000).write(to: URL(filePath: garbage))
        let another = source.directory.file("another.sqlite")
        #expect(kind { try makeCopy(.local, garbage, another) } == .notARealm)
        #expect(try files(source.directory).filter { $0.hasPrefix("another") } == [])
    }

    @Test("A copy without enough disk space leaves nothing behind")
    func noRoom() async throws {
        await #expect(processExitsWith: .success) {
            let source = try RealmFixture(.notes)
            for key in 0..<200 {
                try source.connect().execute(
                    "INSERT INTO Note VALUES (\(key), '\(String(repeating: "x", count: 5000))')"
                )
            }
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 200_000, rlim_max: 200_000)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let path = source.directory.file("copy.sqlite")
            #expect(throws: LocalRealmError.self) {
                _ = try RealmCopy(.local, now: 0).make(from: source.path, to: path)
            }
            let files = try FileManager.default.contentsOfDirectory(
                atPath: source.directory.path
            )
            #expect(files.allSatisfy { !$0.hasPrefix("copy") }, "\(files)")
        }
    }

    @Test("A copy made while programs write is of one moment")
    func concurrency() async throws {
        let source = try RealmFixture(.notes)
        try source.connect().execute("INSERT INTO Note VALUES (0, '0')")
        let path = source.path
        let writer = Task.detached {
            let program = try Connection(path: path)
            var round = 1
            while !Task.isCancelled {
                // Both rows or none: half of a transaction would show.
                try program.execute(
                    "BEGIN IMMEDIATE; INSERT INTO Note VALUES (\(round), ''); "
                        + "UPDATE Note SET text = '\(round)' WHERE _id = 0; COMMIT"
                )
                round += 1
            }
        }
        for number in 0..<10 {
            let copy = source.directory.file("copy-\(number).sqlite")
            try makeCopy(.local, path, copy)
            let connection = try Connection(path: copy)
            let rows = try connection.rows(
                "SELECT max(_id), (SELECT CAST(text AS INTEGER) FROM Note WHERE _id = 0) FROM Note"
            )
            #expect(rows[0][0] == rows[0][1])
            #expect(try connection.rows("PRAGMA integrity_check") == [["ok"]])
        }
        writer.cancel()
        try await writer.value
    }
}
