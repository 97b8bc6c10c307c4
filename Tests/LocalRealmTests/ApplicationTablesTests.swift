import Changesets
import LocalRealm
import SQLite
import TestSupport
import Testing

/// Local realm, 7: the file is a database like any other, and applications use it as one.
@Suite("Applications' additions to a realm file and changes to its tables")
struct ApplicationTablesTests {
    @Test("An application's table with a needed name is reported, never touched")
    func nameTaken() throws {
        let fixture = try RealmFixture()
        try fixture.connect().execute("CREATE VIEW note AS SELECT 1 AS own")
        fixture.realm.close()
        let error = try #require(throws: LocalRealmError.self) {
            try RealmFixture.open(fixture.path, .notes)
        }
        #expect(error.kind == .schemaNameTaken)
        #expect(error.message.contains("view note"))
        #expect(try fixture.rows("SELECT own FROM note") == ["1"])
    }

    @Test(
        "Tables changed by hand are detected before anything else is done",
        arguments: [
            ("DROP TABLE Note", "table Note is missing"),
            ("ALTER TABLE Note RENAME COLUMN text TO body", "column Note.text is missing"),
            ("ALTER TABLE Note RENAME TO Paper", "table Note is missing"),
        ]
    )
    func altered(sql: String, message: String) throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'x')")
        try program.execute(sql)
        for _ in 0..<2 {
            let error = try #require(throws: LocalRealmError.self) { try fixture.realm.drain() }
            #expect(error.kind == .schemaAltered)
            #expect(error.message.contains(message), "\(error)")
        }
        let integration = try #require(throws: LocalRealmError.self) {
            try fixture.receive { $0.createObject(.init("Note", 2)) }
        }
        #expect(integration.kind == .schemaAltered)
        fixture.realm.close()
        let opening = try #require(throws: LocalRealmError.self) {
            try RealmFixture.open(fixture.path)
        }
        #expect(opening.kind == .schemaAltered)
    }

    @Test(
        "Triggers and indexes changed by hand are recreated and reported",
        arguments: [
            ("DROP TRIGGER _realm_1_u1", "trigger _realm_1_u1 is missing"),
            ("DROP TRIGGER _realm_1_insert", "trigger _realm_1_insert is missing"),
            (
                """
                DROP TRIGGER _realm_1_insert;
                CREATE TRIGGER _realm_1_insert AFTER INSERT ON Note BEGIN SELECT 1; END
                """,
                "trigger _realm_1_insert was changed"
            ),
        ]
    )
    func repaired(sql: String, message: String) throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        let parts = "SELECT name, sql FROM sqlite_schema WHERE name GLOB '_realm_1_*' ORDER BY name"
        let before = try fixture.rows(parts)
        try program.execute(sql)
        // The log is empty, and yet it is found.
        let report = try fixture.realm.drain()
        #expect(
            report.notices == [
                .repaired(
                    alterations: [message],
                    lackedTriggers: message.hasPrefix("trigger") && message.hasSuffix("missing")
                )
            ]
        )
        #expect(try fixture.rows(parts) == before)
        #expect(try fixture.realm.drain().notices == [])
        try program.execute("INSERT INTO Note VALUES (1, 'x'); UPDATE Note SET text = 'y'")
        #expect(try fixture.drained() == ["CreateObject Note 1", "Note 1: text = \"y\""])
        // While the agent is not running, too.
        fixture.realm.close()
        try program.execute(sql)
        try fixture.reopen()
        #expect(
            try fixture.realm.drain().notices == [
                .repaired(
                    alterations: [message],
                    lackedTriggers: message.hasPrefix("trigger") && message.hasSuffix("missing")
                )
            ]
        )
        #expect(try fixture.rows(parts) == before)
    }

    @Test("A column of the application's own is reported once")
    func applicationColumn() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute("ALTER TABLE Note ADD COLUMN mine ANY")
        #expect(try fixture.realm.drain().notices == [.applicationColumns(["Note.mine"])])
        try program.execute("CREATE TABLE other(x); INSERT INTO Note(_id, mine) VALUES (1, 2)")
        #expect(try fixture.realm.drain().notices == [])
    }

    @Test("Tables, views, indexes, columns and triggers of the application's own are left alone")
    func ownObjects() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        try fixture.connect().execute(
            """
            CREATE TABLE own(v); CREATE VIEW texts AS SELECT text FROM Note;
            CREATE INDEX by_text ON Note(text); ALTER TABLE Note ADD COLUMN mine ANY DEFAULT 7;
            CREATE TRIGGER mirror AFTER INSERT ON Note BEGIN INSERT INTO own VALUES (NEW._id); END;
            INSERT INTO Note(_id, text) VALUES (1, 'x'); UPDATE Note SET mine = 8;
            VACUUM
            """
        )
        #expect(try fixture.drained() == ["CreateObject Note 1", "Note 1: text = \"x\""])
        try fixture.receive { $0.createObject(.init("Note", 2)) }
        #expect(try fixture.rows("SELECT * FROM Note") == ["1|x|8", "2||7"])
        // The application's triggers do not fire for server changes.
        #expect(try fixture.rows("SELECT v FROM own") == ["1"])
        try fixture.reopen(.notes)
    }

    @Test("A UNIQUE index on a class stops integration until it is dropped, and nothing else")
    func uniqueIndex() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute(
            "CREATE UNIQUE INDEX own ON Note(text); INSERT INTO Note VALUES (1, 'x')"
        )
        let error = try #require(throws: LocalRealmError.self) {
            try fixture.receive { $0.createObject(.init("Note", 2)) }
        }
        #expect(error.kind == .schemaUniqueIndex)
        #expect(error.message.contains("own on Note"))
        #expect(try fixture.history().last?.lines.first == "CreateObject Note 1")
        try program.execute("DROP INDEX own")
        try fixture.receive { $0.createObject(.init("Note", 2)) }
        #expect(try fixture.rows("SELECT _id FROM Note") == ["1", "2"])
    }
}
