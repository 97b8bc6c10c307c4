import Changesets
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@testable import LocalRealm

@Suite("A drain that is prepared while programs write")
struct PreparedDrainTests {
    private static let always = 1...1_000_000
    private static let never = Int.max...Int.max

    /// The two copies of one file: times and generated keys are the same.
    @Test(
        "stores what a drain under the write lock stores",
        arguments: [RandomWorld.Model.scalars, .whole]
    )
    func sameAsUnderLock(model: RandomWorld.Model) throws {
        var preparedCount = 0
        for seed in Seeds.some(12) {
            var world = RandomWorld(seed: 700 + seed, model)
            let fixture = try RealmFixture(world.schema) { $0.preparedRows = Self.always }
            let program = try fixture.connect()
            // The first changeset also publishes the schema.
            for round in 0..<12 {
                try write(&world, program)
                if world.chance(60) {
                    // As if nothing had been deleted.
                    let mark = CaptureMark.deleted
                    if try program.rows("SELECT 1 FROM _realm_capture WHERE prop = \(mark)") != [] {
                        _ = try fixture.realm.drain()
                        continue
                    }
                }
                let other = fixture.directory.file("copy-\(round).sqlite")
                try program.run("VACUUM INTO ?1", [.text(other)])
                let locked = try RealmFixture.open(other, world.schema) {
                    $0.preparedRows = Self.never
                }
                if try fixture.realm.preparedDrain() != nil { preparedCount += 1 }
                let expected = try locked.drain()
                #expect(try fixture.realm.drain() == expected, "seed \(seed)")
                #expect(
                    try DrainedContents(program, world.schema)
                        == DrainedContents(Connection(path: other), world.schema),
                    "seed \(seed), round \(round)"
                )
                locked.close()
            }
        }
        #expect(preparedCount > 10)
    }

    private func write(_ world: inout RandomWorld, _ program: Connection) throws {
        for _ in 0..<(world.chance(30) ? 15 : 3) {
            for statement in world.transaction() {
                // Many break a constraint, on purpose.
                try? program.execute(statement)
            }
            if world.chance(10) {
                // As if time had passed before the next transaction.
                try program.execute("UPDATE _realm_capture SET at = at - 60000")
            }
        }
    }

    @Test(
        "Writes after the preparation stay in the log, and another realm gets all of them",
        arguments: [RandomWorld.Model.scalars, .convergent]
    )
    func writesMeanwhile(model: RandomWorld.Model) throws {
        var storedCount = 0
        for seed in Seeds.some(12) {
            var world = RandomWorld(seed: 800 + seed, model)
            let server = ServerModel()
            let fixture = try RealmFixture(world.schema) { $0.preparedRows = Self.always }
            let other = try RealmFixture(world.schema)
            try fixture.realm.storeFileIdent(server.register())
            try other.realm.storeFileIdent(server.register())
            for _ in 0..<20 {
                try world.write(to: fixture)
                if let prepared = try fixture.realm.preparedDrain() {
                    for _ in 0..<world.pick([1, 1, 5]) { try world.write(to: fixture) }
                    if try fixture.realm.store(prepared) { storedCount += 1 }
                }
                if world.chance(50) { try fixture.exchange(with: server) }
            }
            try fixture.exchange(with: server)
            try other.exchange(with: server)
            let expected = TableContents(server.state)
            for realm in [fixture, other] {
                let contents = try TableContents(world.schema, realm.connect())
                #expect(contents == expected, "seed \(seed)")
            }
        }
        #expect(storedCount > 10)
    }

    @Test("What was prepared for another schema is not stored")
    func alteredSchema() throws {
        let fixture = try RealmFixture(.notes) { $0.preparedRows = Self.always }
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'one')")
        let prepared = try #require(try fixture.realm.preparedDrain())
        try program.execute("CREATE TABLE other(a); INSERT INTO Note VALUES (2, 'two')")
        #expect(try !fixture.realm.store(prepared))
        #expect(try program.integer("SELECT count(*) FROM _realm_capture") == 2)
        #expect(try fixture.realm.drain().changesetCount == 1)
        let lines = try fixture.history().flatMap(\.lines)
        #expect(lines.filter { $0.hasPrefix("CreateObject") }.count == 2)
    }

    @Test("A program that empties the log itself and writes again loses nothing of that write")
    func emptiedLog() throws {
        let fixture = try RealmFixture(.notes) { $0.preparedRows = Self.always }
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'one'), (2, 'two')")
        let prepared = try #require(try fixture.realm.preparedDrain())
        try program.execute("DELETE FROM _realm_capture; INSERT INTO Note VALUES (3, 'three')")
        #expect(try !fixture.realm.store(prepared))
        _ = try fixture.realm.drain()
        #expect(try fixture.history().flatMap(\.lines).contains("CreateObject Note 3"))
    }

    @Test(
        "Programs can write while changesets are made, and the store waits for their transactions"
    )
    func lockOfProgram() throws {
        let fixture = try RealmFixture(.notes) {
            $0.preparedRows = Self.always
            $0.busyTimeout = .zero
        }
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'one')")
        try program.execute("BEGIN IMMEDIATE; INSERT INTO Note VALUES (2, 'two')")
        let prepared = try #require(try fixture.realm.preparedDrain())
        let error = #expect(throws: LocalRealmError.self) { try fixture.realm.drain() }
        #expect(error?.kind == .busy)
        try program.execute("COMMIT")
        #expect(try fixture.realm.store(prepared))
        #expect(try fixture.captured().count == 1)
    }

    @Test(
        "A download without changesets publishes the schema, and leaves the log to the next drain"
    )
    func acknowledgement() throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        #expect(try fixture.receive(upTo: 1).drained.changesetCount == 1)
        try program.execute("INSERT INTO Note VALUES (1, 'one')")
        #expect(try fixture.receive(upTo: 2).drained.changesetCount == 0)
        #expect(try fixture.captured().count == 1)
        #expect(fixture.realm.status.progress.download.serverVersion == ServerVersion(2))
        let merged = try fixture.receive { $0.createObject(ObjectReference("Note", Int64(2))) }
        #expect(merged.drained.changesetCount == 1)
        #expect(try fixture.captured().isEmpty)
    }

    @Test("A log with more than memory should hold is drained in parts, by one call")
    func largeValues() throws {
        let fixture = try RealmFixture(.notes) { $0.preparedRows = Self.always }
        let program = try fixture.connect()
        for number in 1...12 {
            try program.execute(
                """
                INSERT INTO Note VALUES (\(number), hex(zeroblob(500000)));
                UPDATE _realm_capture SET at = \(RealmFixture.instant + Int64(number) * 60_000)
                WHERE key = \(number)
                """
            )
        }
        let prepared = try #require(try fixture.realm.preparedDrain())
        #expect(prepared.leavesRows)
        #expect((1..<12).contains(prepared.report.changesetCount))
        #expect(try fixture.realm.drain().changesetCount == 12)
        #expect(try fixture.captured().isEmpty)
        #expect(fixture.realm.status.localVersion == ClientVersion(13))
    }

    @Test(
        "A deletion and a value to correct need the write lock all the time",
        arguments: [
            "DELETE FROM Item WHERE _id = 1",
            "INSERT INTO Item(_id, at) VALUES (2, '2026-01-02T03:04:05.1Z')",
        ]
    )
    func needsLock(sql: String) throws {
        let fixture = try RealmFixture(DrainTests.schema) { $0.preparedRows = Self.always }
        let program = try fixture.connect()
        try program.execute("INSERT INTO Item(_id) VALUES (1)")
        #expect(try fixture.realm.preparedDrain() != nil)
        _ = try fixture.realm.drain()
        try program.execute("PRAGMA ignore_check_constraints = ON")
        try program.execute(sql)
        #expect(try fixture.realm.preparedDrain() == nil)
        #expect(try fixture.realm.drain().changesetCount == 1)
    }
}
