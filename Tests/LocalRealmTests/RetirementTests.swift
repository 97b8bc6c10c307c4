import FoundationEssentials
import LocalRealm
import SQLite
import TestSupport
import Testing
import Versions

@Suite("Removing a realm's files (features, L3)")
struct RetirementTests {
    private func refusal(_ path: String) -> LocalRealmError.Kind? {
        do throws(LocalRealmError) { _ = try RealmFileRemoval(of: path).remove(force: false) } catch
        {
            return error.kind
        }
        return nil
    }

    private func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    @Test("Pending uploads are not deleted, nor are writes that are not captured yet")
    func pending() throws {
        let server = ServerModel()
        let fixture = try RealmFixture(.notes)
        try fixture.realm.storeFileIdent(server.register())
        try fixture.exchange(with: server)
        #expect(refusal(fixture.path) == .locked)

        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'one')")
        fixture.realm.close()
        #expect(refusal(fixture.path) == .pendingUploads)
        try fixture.reopen()
        _ = try fixture.realm.drain()
        fixture.realm.close()
        #expect(refusal(fixture.path) == .pendingUploads)
        #expect(try fixture.rows("SELECT text FROM Note") == ["one"])
        try fixture.connect().execute("UPDATE Note SET text = 'uno'")

        try fixture.reopen()
        try fixture.exchange(with: server)
        fixture.realm.close()
        #expect(refusal(fixture.path) == nil)
        for suffix in ["", "-wal", "-shm"] { #expect(!exists(fixture.path + suffix)) }
        // It starts over, empty.
        try fixture.reopen()
        #expect(fixture.realm.status.fileIdent == .none)
    }

    @Test("A program that still has the file open gets errors")
    func openPrograms() throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'one')")
        fixture.realm.close()
        #expect(try RealmFileRemoval(of: fixture.path).remove(force: true).contains(fixture.path))
        for sql in [
            "INSERT INTO Note VALUES (2, 'two')", "UPDATE Note SET text = 'uno'",
            "DELETE FROM Note", "INSERT OR IGNORE INTO Note VALUES (1, 'again')",
        ] {
            let error = #expect(throws: SQLiteError.self) { try program.execute(sql) }
            #expect(error?.message.contains("this realm was deleted") == true)
        }
        #expect(try program.rows("SELECT text FROM Note") == [["one"]])
    }

    @Test("An unreadable file is deleted only by force, and a missing one is not an error")
    func garbage() throws {
        let directory = try TemporaryDirectory()
        for size in [1, 5_000] {
            let path = directory.file("stock.sqlite")
            try Data(repeating: 7, count: size).write(to: URL(filePath: path))
            #expect(refusal(path) == .notARealm)
            #expect(try RealmFileRemoval(of: path).remove(force: true) == [path])
            #expect(try RealmFileRemoval(of: path).remove(force: false) == [])
        }
    }
}
