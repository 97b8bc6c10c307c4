import Changesets
import LocalRealm
import SQLite
import Testing

/// Local realm, 3.3: triggers that `run_on_remote` names.
@Suite("Applications' triggers that run on changes of the server")
struct RemoteTriggerTests {
    private static let trigger = """
        CREATE TRIGGER mirror AFTER INSERT ON Note BEGIN INSERT INTO own VALUES (NEW._id); END;
        """

    private func fixture(_ names: String...) throws -> RealmFixture {
        let fixture = try RealmFixture(.notes) { $0.remoteTriggers = names }
        _ = try fixture.realm.drain()
        try fixture.connect().execute("CREATE TABLE own(v)")
        return fixture
    }

    @Test("A named trigger runs on remote changes and on local ones, once each; another does not")
    func runs() throws {
        let fixture = try fixture("mirror")
        let program = try fixture.connect()
        try program.execute(
            """
            CREATE TABLE other(v);
            CREATE TRIGGER unnamed AFTER INSERT ON Note BEGIN INSERT INTO other VALUES (NEW._id); END;
            \(Self.trigger)
            INSERT INTO Note(_id, text) VALUES (1, 'x')
            """
        )
        #expect(try fixture.drained() == ["CreateObject Note 1", "Note 1: text = \"x\""])
        try fixture.receive { $0.createObject(.init("Note", 2)) }
        #expect(try fixture.rows("SELECT v FROM own ORDER BY v") == ["1", "2"])
        #expect(try fixture.rows("SELECT v FROM other") == ["1"])
        // What the server writes is not captured as a local write.
        #expect(try fixture.rows("SELECT count(*) FROM _realm_capture") == ["0"])

        // Also after the next start.
        try fixture.reopen(.notes) { $0.remoteTriggers = ["mirror"] }
        try fixture.receive { $0.createObject(.init("Note", 3)) }
        #expect(try fixture.rows("SELECT v FROM own ORDER BY v") == ["1", "2", "3"])
    }

    @Test("A trigger that is changed or dropped while the agent runs is followed")
    func followed() throws {
        let fixture = try RealmFixture(.notes) { $0.remoteTriggers = ["mirror"] }
        #expect(
            try fixture.realm.drain().notices == [
                .remoteTriggers(["there is no trigger mirror on a class"])
            ]
        )
        let program = try fixture.connect()
        try program.execute("CREATE TABLE own(v)")
        #expect(try fixture.realm.drain().notices == [])
        try program.execute(Self.trigger)
        try fixture.receive { $0.createObject(.init("Note", 1)) }
        try program.execute(
            """
            DROP TRIGGER mirror;
            CREATE TRIGGER mirror AFTER INSERT ON Note BEGIN INSERT INTO own VALUES (-NEW._id); END
            """
        )
        try fixture.receive { $0.createObject(.init("Note", 2)) }
        try program.execute("DROP TRIGGER mirror")
        try fixture.receive { $0.createObject(.init("Note", 3)) }
        #expect(try fixture.rows("SELECT v FROM own ORDER BY v") == ["-2", "1"])
    }

    @Test(
        "A trigger that writes a class or cannot be compiled is reported and not run; others are",
        arguments: [
            (
                "UPDATE Note SET text = 'y' WHERE _id = NEW._id",
                "writes Note, which would not be uploaded"
            ),
            ("INSERT INTO gone VALUES (1)", "cannot run: no such table"),
        ]
    )
    func unusable(body: String, problem: String) throws {
        let fixture = try fixture("bad", "mirror")
        let program = try fixture.connect()
        try program.execute(
            "\(Self.trigger) CREATE TRIGGER bad AFTER INSERT ON Note BEGIN \(body); END"
        )
        let report = try fixture.receive { $0.createObject(.init("Note", 1)) }
        #expect(report.drained.notices.count == 1)
        let message = report.drained.notices.first?.message ?? ""
        #expect(message.hasPrefix("trigger bad ") && message.contains(problem), "\(message)")
        #expect(report.drained.notices.first?.code == "schema.remote_trigger")
        #expect(try fixture.rows("SELECT v FROM own") == ["1"])
        #expect(try fixture.rows("SELECT text FROM Note") == [""])
        #expect(try fixture.realm.drain().notices == [])
    }

    @Test(
        "A trigger that refuses a remote change stops downloads, not capture, until it is dropped"
    )
    func refusal() throws {
        let fixture = try fixture("never")
        let program = try fixture.connect()
        try program.execute(
            """
            CREATE TRIGGER never BEFORE INSERT ON Note WHEN NEW._id > 5 BEGIN
                SELECT RAISE(ABORT, 'not here');
            END;
            INSERT INTO Note(_id) VALUES (1)
            """
        )
        let error = try #require(throws: LocalRealmError.self) {
            try fixture.receive { $0.createObject(.init("Note", 9)) }
        }
        #expect(error.code == "schema.remote_trigger")
        #expect(error.message.contains("not here"), "\(error.message)")
        #expect(try fixture.history().last?.lines.first == "CreateObject Note 1")
        try program.execute("INSERT INTO Note(_id) VALUES (2)")
        #expect(try fixture.drained() == ["CreateObject Note 2"])
        try program.execute("DROP TRIGGER never")
        try fixture.receive { $0.createObject(.init("Note", 9)) }
        #expect(try fixture.rows("SELECT _id FROM Note") == ["1", "2", "9"])
    }

    @Test("After a rollback the copies are there again")
    func rollback() throws {
        let fixture = try fixture("mirror")
        let program = try fixture.connect()
        try program.execute(Self.trigger)
        // The schema has changed, so this makes the copy, and then fails as a whole.
        try program.execute("ALTER TABLE Note RENAME COLUMN text TO body")
        #expect(throws: LocalRealmError.self) {
            try fixture.receive { $0.createObject(.init("Note", 1)) }
        }
        try program.execute("ALTER TABLE Note RENAME COLUMN body TO text")
        try fixture.receive { $0.createObject(.init("Note", 1)) }
        #expect(try fixture.rows("SELECT v FROM own") == ["1"])
    }
}
