import Changesets
import Glibc
import LocalRealm
import SQLite
import Testing

/// Local realm, 6: the space of deleted rows.
@Suite("Free pages of a realm file")
struct FreePagesTests {
    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    /// A realm of 8 MiB that the server has sent, checkpointed.
    private func filled() throws -> RealmFixture {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let text = Text(String(repeating: "x", count: 2000))
        try fixture.receive { writer in
            for key in Int64(0)..<4000 {
                writer.createObject(.init("Note", key))
                writer.update(.init("Note", key), "text", to: .scalar(.string(text)))
            }
        }
        try checkpointer(fixture).run()
        #expect(size(fixture.path) > 8_000_000)
        return fixture
    }

    private func checkpointer(_ fixture: RealmFixture) throws -> Checkpointer {
        try Checkpointer(path: fixture.path)
    }

    @Test("A file shrinks after a large deletion while programs read and write, and loses nothing")
    func shrinks() throws {
        let fixture = try filled()
        let program = try fixture.connect()
        try program.execute("DELETE FROM Note WHERE _id % 100 <> 0")
        _ = try fixture.realm.drain()
        let checkpointer = try checkpointer(fixture)
        let prepared = try program.prepare("SELECT count(*) FROM Note")
        for key in Int64(10_000)..<10_020 {
            try checkpointer.run()
            // The same connection and statement as before, between two steps of the work.
            try program.run("INSERT INTO Note VALUES (?, 'new')", [.integer(key)])
            prepared.reset()
            #expect(try prepared.step())
            #expect(prepared.integer(at: 0) == 40 + key - 9_999)
        }
        prepared.reset()
        _ = try fixture.realm.drain()
        try checkpointer.run()
        #expect(size(fixture.path) < 8_000_000 * 3 / 4, "\(size(fixture.path)) bytes")
        #expect(try fixture.rows("PRAGMA integrity_check") == ["ok"])
        #expect(try fixture.rows("SELECT count(*), count(DISTINCT text) FROM Note") == ["60|2"])
        try fixture.reopen(.notes)
        try fixture.receive { $0.createObject(.init("Note", 50_000)) }
        #expect(try fixture.rows("SELECT count(*) FROM Note") == ["61"])
    }

    @Test("It never waits for a program's transaction, and leaves small remainders alone")
    func steps() throws {
        let fixture = try filled()
        let program = try fixture.connect()
        let checkpointer = try checkpointer(fixture)
        try program.execute("DELETE FROM Note WHERE _id < 300")
        let free = { try program.integer("PRAGMA freelist_count") ?? 0 }
        let few = try free()
        #expect(few > 0 && few < Checkpointer.keptFreePages)
        try checkpointer.run()
        #expect(try free() == few)

        try program.execute("DELETE FROM Note")
        let many = try free()
        try program.execute("BEGIN IMMEDIATE; INSERT INTO Note VALUES (1, 'held')")
        try checkpointer.run()
        try program.execute("COMMIT")
        #expect(try free() >= many - 4)
        try checkpointer.run()
        #expect(try free() < many - 500)
    }

    @Test("A file of an earlier version is left as it is, and VACUUM makes it one that shrinks")
    func earlierFile() throws {
        let fixture = try filled()
        fixture.realm.close()
        let program = try fixture.connect()
        try program.execute("PRAGMA auto_vacuum = NONE; VACUUM")
        #expect(try program.integer("PRAGMA auto_vacuum") == 0)
        try fixture.reopen(.notes)
        try program.execute("DELETE FROM Note")
        let free = try program.integer("PRAGMA freelist_count")
        try checkpointer(fixture).run()
        #expect(try program.integer("PRAGMA freelist_count") == free)
        // As the page on operations says; the agent may run.
        try program.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM")
        #expect(try fixture.rows("PRAGMA auto_vacuum") == ["2"])
        #expect(try fixture.realm.drain().notices == [])
    }
}
