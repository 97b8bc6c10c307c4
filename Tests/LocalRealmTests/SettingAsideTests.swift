import FoundationEssentials
import LocalRealm
import SQLite
import TestSupport
import Testing

@Suite("Realms that are kept as a copy and start over")
struct SettingAsideTests {
    private func written() throws -> (fixture: RealmFixture, copy: String) {
        let fixture = try RealmFixture(.notes)
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'one')")
        _ = try fixture.realm.drain()
        try fixture.connect().execute("INSERT INTO Note VALUES (2, 'still in the log')")
        return (fixture, fixture.directory.file("kept.sqlite"))
    }

    private func notes(_ path: String) throws -> [[SQLiteValue]] {
        try Connection(path: path, .init(mode: .readOnly)).rows("SELECT _id FROM Note ORDER BY _id")
    }

    @Test(
        "All writes are in the copy, and programs with the old file open can no longer write"
    )
    func openPrograms() throws {
        let (fixture, copy) = try written()
        let program = try fixture.connect()
        try program.execute("UPDATE Note SET text = 'x' WHERE _id = 1")
        #expect(throws: LocalRealmError.self, "an agent has it open") {
            try RealmFile.setAside(fixture.path, to: copy)
        }
        fixture.realm.close()
        try RealmFile.setAside(fixture.path, to: copy)
        #expect(try notes(copy) == [[1], [2]])
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
        #expect(throws: SQLiteError.self) {
            try program.execute("INSERT INTO Note VALUES (3, 'lost?')")
        }
        try fixture.reopen(.notes)
        #expect(try fixture.rows("SELECT * FROM Note") == [])
        #expect(try fixture.realm.drain().changesetCount == 1, "its schema, as of any new realm")
    }

    @Test("A write that waits for the lock is refused, not lost")
    func waitingProgram() throws {
        let (fixture, copy) = try written()
        fixture.realm.close()
        let program = try fixture.connect()
        try program.execute("BEGIN IMMEDIATE; INSERT INTO Note VALUES (3, 'in time')")
        #expect(throws: LocalRealmError.self) {
            try RealmFile.setAside(fixture.path, to: copy, busyTimeout: .milliseconds(1))
        }
        #expect(FileManager.default.fileExists(atPath: fixture.path))
        try program.execute("COMMIT")
        try RealmFile.setAside(fixture.path, to: copy)
        #expect(try notes(copy) == [[1], [2], [3]])
    }

    @Test("After a crash that follows the copy it is repeated, and the copy stays unchanged")
    func repeated() throws {
        let (fixture, copy) = try written()
        fixture.realm.close()
        // A program's connection keeps the emptied file readable after it was removed.
        try RealmFile.copyCommitted(from: fixture.path, to: copy)
        let program = try fixture.connect()
        let tables = try program.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        for case .text(let name) in tables.map({ $0[0] }) {
            try program.execute("DROP TABLE \(Connection.quoted(name))")
        }
        try RealmFile.setAside(fixture.path, to: copy)
        #expect(try notes(copy) == [[1], [2]])
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
        try RealmFile.setAside(fixture.path, to: copy)
        #expect(try notes(copy) == [[1], [2]], "and where there is no file, nothing is to do")
    }

    @Test(
        "A file that is not a realm is moved as it is, and never over another copy",
        arguments: [true, false]
    )
    func otherFile(isDatabase: Bool) throws {
        let fixture = try RealmFixture(.notes)
        fixture.realm.close()
        let (path, copy) = (fixture.directory.file("x.sqlite"), fixture.directory.file("copy"))
        for place in [copy, copy + ".other"] {
            if isDatabase {
                try Connection(path: path).execute(
                    "CREATE TABLE mine(a); INSERT INTO mine VALUES (7)"
                )
            } else {
                let noise = Data((0..<5000).map { UInt8($0 % 251) })
                try noise.write(to: URL(filePath: path))
            }
            let before = FileManager.default.contents(atPath: path)
            try RealmFile.setAside(path, to: copy)
            #expect(FileManager.default.contents(atPath: place) == before)
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }

    @Test("Without room for the copy the realm stays as it was")
    func noRoom() throws {
        let (fixture, _) = try written()
        fixture.realm.close()
        #expect(throws: LocalRealmError.self) {
            try RealmFile.setAside(fixture.path, to: "/dev/full/kept.sqlite")
        }
        try fixture.reopen(.notes)
        #expect(try fixture.rows("SELECT _id FROM Note ORDER BY _id") == ["1", "2"])
    }
}
