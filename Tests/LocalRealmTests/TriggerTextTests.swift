import Changesets
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing

@Suite("The texts of triggers")
struct TriggerTextTests {
    private static let parts = """
        SELECT name || ': ' || sql FROM sqlite_schema WHERE name GLOB '_realm_[0-9]*' ORDER BY name
        """

    private static let formerExists = """
        CREATE TRIGGER "_realm_1_exists" BEFORE INSERT ON "Box"
        WHEN EXISTS (SELECT 1 FROM "Box" WHERE "_id" = NEW."_id") BEGIN
          INSERT INTO _realm_capture(class, key, prop) VALUES (1, NEW."_id", -2);
          INSERT INTO _realm_capture(class, key, prop, old)
            SELECT 1, "_id", 1, "counts" FROM "Box"
            WHERE "_id" = NEW."_id" AND "counts" IS NOT NEW."counts";
        END
        """
    private static let formerKeyTest =
        "(instr(key, '.') OR substr(key, 1, 1) = '$' AND key NOT GLOB '$string:*')"

    @Test("of an earlier version are replaced, and nothing is reported")
    func former() throws {
        let schema = RealmSchema([
            ClassSchema(
                name: "Box",
                kind: .topLevel(.int),
                properties: [
                    .init(name: "counts", type: .int, isNullable: false, collection: .dictionary)
                ]
            )
        ])
        let fixture = try RealmFixture(schema)
        _ = try fixture.realm.drain()
        let current = try fixture.rows(Self.parts)
        let program = try fixture.connect()
        for _ in 0..<2 {
            try program.execute("DROP TRIGGER _realm_1_exists")
            try program.execute(Self.formerExists)
            for name in ["_realm_1_check", "_realm_1_u1"] {
                let sql = try #require(
                    try fixture.rows("SELECT sql FROM sqlite_schema WHERE name = '\(name)'").first
                )
                let former = sql.replacing(
                    "(key GLOB '*[.$]*' AND \(Self.formerKeyTest))",
                    with: Self.formerKeyTest
                )
                #expect(former != sql)
                try program.execute("DROP TRIGGER \(name)")
                try program.execute(former)
            }
            #expect(try fixture.realm.drain().notices == [])
            #expect(try fixture.rows(Self.parts) == current)
            // The second time the agent is not running.
            fixture.realm.close()
            try fixture.reopen(schema)
        }
        #expect(try fixture.rows(Self.parts) == current)
    }

    @Test("name columns so that any property may have any name")
    func names() throws {
        let names = ["column1", "c", "r", "p", "key", "old", "NEW", "a\"b"]
        let fixture = try RealmFixture(
            RealmSchema([
                ClassSchema(
                    name: "r",
                    kind: .topLevel(.int),
                    properties: names.map {
                        .init(name: .init($0), type: .int, isNullable: false)
                    }
                )
            ])
        )
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute("INSERT INTO r(_id) VALUES (1)")
        try program.execute("INSERT OR REPLACE INTO r VALUES (1, 0, 2, 0, 4, 0, 6, 0, 8)")
        #expect(
            try fixture.rows("SELECT prop || ' ' || ifnull(old, '-') FROM _realm_capture") == [
                "0 -", "-2 -", "2 0", "4 0", "6 0", "8 0", "0 -",
            ]
        )
    }
}
