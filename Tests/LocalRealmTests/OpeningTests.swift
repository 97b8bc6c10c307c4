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

@Suite("Opening a local realm")
struct OpeningTests {
    let directory: TemporaryDirectory
    let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("stock.sqlite")
    }

    private func contents() throws -> Data {
        try Data(contentsOf: URL(filePath: path))
    }

    @Test("A new file is a WAL database that the group may write, at version 1")
    func newFile() throws {
        let realm = try RealmFixture.open(path, .notes)
        let status = realm.status
        #expect(status.localVersion == ClientVersion(1))
        #expect(status.fileIdent == .none)
        #expect(status.progress == .zero)
        #expect(!status.isAdoptedCopy)
        #expect(status.instance.count == 32)
        let connection = try Connection(path: path)
        #expect(try connection.rows("PRAGMA journal_mode") == [["wal"]])
        var attributes = stat()
        #expect(stat(path, &attributes) == 0)
        let permissions = attributes.st_mode
        #expect(permissions & 0o117 == 0 && permissions & 0o600 == 0o600)
    }

    @Test("A symbolic link in the place of the lock is refused, and its target is not made")
    func linkedLock() throws {
        let target = "\(path).target"
        #expect(symlink(target, "\(path).lock") == 0)
        #expect(throws: LocalRealmError.self) { try RealmFixture.open(path) }
        #expect(access(target, F_OK) != 0)
    }

    @Test("Programs may only read a read-only realm, until it is opened without that again")
    func readOnly() throws {
        try RealmFixture.open(path, .notes).close()
        for isReadOnly in [true, true, false] {
            let realm = try RealmFixture.open(path, .notes) { $0.isReadOnly = isReadOnly }
            let triggers = try Connection(path: path).rows(
                "SELECT count(*) FROM sqlite_schema WHERE name GLOB '_realm_*_readonly_*'"
            )
            #expect((triggers == [[0]]) == !isReadOnly)
            // No trigger counts as altered.
            #expect(try realm.drain().notices.isEmpty)
            realm.close()
        }
    }

    @Test("A second agent on the same file is refused until the first has closed it")
    func lock() throws {
        let first = try RealmFixture.open(path)
        let error = try #require(throws: LocalRealmError.self) { try RealmFixture.open(path) }
        #expect(error.kind == .locked)
        #expect(error.code == "realm.locked")
        first.close()
        _ = try RealmFixture.open(path)
    }

    @Test("A file that is not a database is refused and stays unchanged")
    func garbage() throws {
        for size in [1, 100, 5000] {
            let garbage = Data(repeating: 0x5a, count: size)
            try garbage.write(to: URL(filePath: path))
            let error = try #require(throws: LocalRealmError.self) { try RealmFixture.open(path) }
            #expect(error.kind == .notARealm)
            #expect("\(error)".hasPrefix("\(path): error: realm.not_a_realm: "))
            #expect(try contents() == garbage)
        }
    }

    @Test("A database that is not a realm is refused and stays unchanged")
    func foreignDatabase() throws {
        let connection = try Connection(path: path)
        try connection.execute("CREATE TABLE own(v); INSERT INTO own VALUES (1)")
        let before = try contents()
        let error = try #require(throws: LocalRealmError.self) { try RealmFixture.open(path) }
        #expect(error.kind == .notARealm)
        #expect(error.message == "the file is an SQLite database, but not a local realm")
        #expect(try contents() == before)
    }

    @Test(
        "A realm of another app, user, partition or mode is refused, and both are named",
        arguments: [
            RealmOwner(appID: "other", userID: "till-7", scope: .partition(.string("store-42"))),
            RealmOwner(
                appID: "shop-abcde",
                userID: "till-8",
                scope: .partition(.string("store-42"))
            ),
            RealmOwner(appID: "shop-abcde", userID: "till-7", scope: .partition(.int(42))),
            RealmOwner(appID: "shop-abcde", userID: "till-7", scope: .subscriptions),
        ]
    )
    func wrongOwner(owner: RealmOwner) throws {
        let realm = try RealmFixture.open(path, .notes)
        try Connection(path: path).execute("INSERT INTO Note VALUES (1, 'kept')")
        realm.close()
        let before = try contents()
        let error = try #require(throws: LocalRealmError.self) {
            try RealmFixture.open(path, owner: owner)
        }
        #expect(error.kind == .wrongOwner)
        #expect(error.message.contains("\(RealmOwner.test)"))
        #expect(error.message.contains("\(owner)"))
        #expect(try contents() == before)
        _ = try RealmFixture.open(path)
    }

    @Test("A realm of a later layout is refused")
    func newerLayout() throws {
        try RealmFixture.open(path).close()
        try Connection(path: path).execute("UPDATE _realm_state SET layout_version = 99")
        let error = try #require(throws: LocalRealmError.self) { try RealmFixture.open(path) }
        #expect(error.kind == .newerLayout)
    }

    @Test("A missing directory is named with the remedy")
    func missingDirectory() throws {
        let error = try #require(throws: LocalRealmError.self) {
            try RealmFixture.open(directory.file("absent/stock.sqlite"))
        }
        #expect(error.kind == .cannotOpen)
        #expect(error.remedy.contains("directory"))
    }

    @Test("State survives closing; an ident is stored once and zeroes the client's cursors")
    func reopening() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let ident = SaltedFileIdent(ident: FileIdent(5), salt: Salt(99))
        try fixture.realm.storeFileIdent(ident)
        try fixture.receive(upTo: 4, after: 2)
        try fixture.realm.markDownloadCompleted()
        let status = fixture.realm.status
        #expect(status.localVersion == ClientVersion(4))
        #expect(status.progress.download.lastIntegratedClientVersion == ClientVersion(2))
        try fixture.reopen()
        #expect(fixture.realm.status == status)
        let error = try #require(throws: LocalRealmError.self) {
            try fixture.realm.storeFileIdent(ident)
        }
        #expect(error.kind == .identAlreadySet)
    }

    @Test("A copy of the file gets its own instance name, requests an ident and keeps its cursors")
    func copies() throws {
        let fixture = try RealmFixture(.notes)
        try fixture.realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(5), salt: Salt(99)))
        try fixture.receive { $0.createObject(.init("Note", 1)) }
        fixture.realm.close()
        try FileManager.default.copyItem(atPath: fixture.path, toPath: path)

        var status = try RealmFixture.open(path).status
        #expect(status.isAdoptedCopy)
        #expect(status.fileIdent == .none)
        #expect(status.progress.download.serverVersion == ServerVersion(1))
        status = try RealmFixture.open(path).status
        #expect(!status.isAdoptedCopy)

        try fixture.reopen()
        #expect(!fixture.realm.status.isAdoptedCopy)
        fixture.realm.close()
        #expect(try RealmFixture.open(fixture.path, machineID: "other").status.isAdoptedCopy)
    }

    @Test("Calls after closing fail with an error")
    func closed() throws {
        let realm = try RealmFixture.open(path)
        realm.close()
        #expect(throws: LocalRealmError.self) { try realm.drain() }
    }
}
