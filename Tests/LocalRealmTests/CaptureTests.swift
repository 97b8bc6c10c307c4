import Changesets
import LocalRealm
import Schemas
import TestSupport
import Testing

/// The capture of each kind of write (local realm, 3.4), with the two SQLite programs of these
/// tests.
@Suite("Capturing the writes of programs")
struct CaptureTests {
    let fixture: RealmFixture

    init() throws {
        fixture = try RealmFixture(
            RealmSchema([
                ClassSchema(
                    name: "Item",
                    kind: .topLevel(.int),
                    properties: [
                        .init(name: "name", type: .string, isNullable: false),
                        .init(name: "count", type: .int, isNullable: true),
                        .init(name: "box", type: .link(target: "Item"), isNullable: true),
                    ]
                )
            ])
        )
        _ = try fixture.realm.drain()
    }

    private func run(_ sql: String) async throws -> (log: [String], sent: [String]) {
        try await Tool.sqlite3(fixture.path, sql)
        return (try fixture.captured(), try fixture.drained())
    }

    private func given(_ sql: String) async throws {
        try await Tool.sqlite3(fixture.path, sql)
        _ = try fixture.realm.drain()
    }

    @Test("INSERT OR REPLACE with recursive triggers is a deletion and a creation; links stay")
    func replaceRecursively() async throws {
        try await given("INSERT INTO Item VALUES (1, 'old', 5, NULL), (2, 'inside', 1, 1)")
        let result = try await run(
            "PRAGMA recursive_triggers = ON; INSERT OR REPLACE INTO Item VALUES (1, 'new', 5, NULL)"
        )
        #expect(result.log == ["1,exists", "1,name,old", "1,delete", "1,insert"])
        #expect(
            result.sent == [
                "EraseObject Item 1", "CreateObject Item 1", "Item 1: name = \"new\"",
                "Item 1: count = 5",
            ]
        )
        #expect(try fixture.rows("SELECT box FROM Item WHERE _id = 2") == ["1"])
    }

    @Test("UPDATE OR REPLACE keeps capturing: the clause does not reach into the triggers")
    func conflictClauses() async throws {
        try await given("INSERT INTO Item VALUES (1, 'a', 5, NULL)")
        let result = try await run(
            """
            UPDATE OR REPLACE Item SET name = 'b'; UPDATE OR IGNORE Item SET name = 'c';
            INSERT OR IGNORE INTO Item(_id, name) VALUES (2, 'd'), (1, 'ignored');
            """
        )
        #expect(result.log.prefix(3) == ["1,name,a", "1,name,b", "2,insert"])
        #expect(
            result.sent == [
                "CreateObject Item 2", "Item 1: name = \"c\"", "Item 2: name = \"d\"",
            ]
        )
    }

    @Test("A program that writes whole rows back sends only the differences")
    func wholeRows() async throws {
        try await given("INSERT INTO Item VALUES (1, 'a', 5, NULL), (2, 'b', NULL, 1)")
        let log = try await Tool.python(
            fixture.path,
            """
            connection.execute("BEGIN IMMEDIATE")
            rows = connection.execute("SELECT _id, name, count, box FROM Item").fetchall()
            for key, name, count, box in rows:
                connection.execute(
                    "UPDATE Item SET name = ?, count = ?, box = ? WHERE _id = ?",
                    (name, 7 if key == 2 else count, box, key))
            connection.execute("COMMIT")
            print(connection.execute("SELECT count(*) FROM _realm_capture").fetchone()[0])
            """
        )
        #expect(log == "1\n")
        #expect(try fixture.drained() == ["Item 2: count = 7"])
    }

    @Test("A write that fails or is rolled back, even to a savepoint, is not captured")
    func rollbacks() async throws {
        let result = try await run(
            """
            BEGIN; INSERT INTO Item(_id) VALUES (1); ROLLBACK;
            BEGIN; INSERT INTO Item(_id) VALUES (2); SAVEPOINT s;
            INSERT INTO Item(_id) VALUES (3); ROLLBACK TO s; COMMIT;
            """
        )
        #expect(result.log == ["2,insert"])
        let printed = try await Tool.python(
            fixture.path,
            """
            try:
                connection.execute("INSERT INTO Item(_id, name) VALUES (4, 'x'), (5, NULL)")
            except sqlite3.IntegrityError as error:
                print(error)
            """
        )
        #expect(printed == "NOT NULL constraint failed: Item.name\n")
        #expect(try fixture.drained() == [])
    }

    @Test("Many rows in one statement are many log rows, in their order")
    func manyRows() async throws {
        var result = try await run(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4)
            INSERT INTO Item(_id, name) SELECT i, 'n' || i FROM n
            """
        )
        #expect(result.log == (1...4).map { "\($0),insert" })
        #expect(result.sent.count == 8)
        result = try await run("UPDATE Item SET count = _id WHERE _id > 2")
        #expect(result.log == ["3,count,null", "4,count,null"])
        // Without WHERE every row is logged, too: the trigger forbids the short cut.
        result = try await run("DELETE FROM Item")
        #expect(result.log == (1...4).map { "\($0),delete" })
        #expect(result.sent == (1...4).map { "EraseObject Item \($0)" })
    }

    @Test("Through ATTACH, each file logs its own part")
    func attached() async throws {
        let other = try RealmFixture(.notes)
        _ = try other.realm.drain()
        try await Tool.sqlite3(
            fixture.path,
            """
            ATTACH '\(other.path)' AS other;
            BEGIN; INSERT INTO Item(_id) VALUES (1); INSERT INTO other.Note VALUES (2, 'x'); COMMIT;
            """
        )
        #expect(try fixture.captured() == ["1,insert"])
        #expect(try other.captured() == ["2,insert"])
    }

    @Test("DROP COLUMN is refused by SQLite, because the triggers need the column")
    func dropColumn() async throws {
        await #expect(throws: Tool.Failure.self) {
            try await Tool.sqlite3(fixture.path, "ALTER TABLE Item DROP COLUMN count")
        }
    }

    @Test("VACUUM changes neither the log nor the triggers")
    func vacuum() async throws {
        let result = try await run("INSERT INTO Item(_id) VALUES (1); VACUUM")
        #expect(result.log == ["1,insert"])
        #expect(result.sent == ["CreateObject Item 1"])
    }

    @Test("RETURNING, UPDATE FROM and upserts that change the row are captured like plain writes")
    func modernStatements() async throws {
        try await given("INSERT INTO Item VALUES (1, 'a', 5, NULL), (2, 'b', 6, NULL)")
        let result = try await run(
            """
            UPDATE Item SET count = o.count FROM Item AS o WHERE o._id = 2 AND Item._id = 1;
            INSERT INTO Item(_id, name) VALUES (2, 'c')
              ON CONFLICT(_id) DO UPDATE SET name = excluded.name RETURNING count;
            """
        )
        #expect(
            result.sent == ["Item 1: count = 6", "Item 2: name = \"c\""]
        )
    }

    @Test("Two programs write in turns, and all writes are captured in the order of commits")
    func twoPrograms() async throws {
        try await Tool.sqlite3(fixture.path, "INSERT INTO Item(_id, name) VALUES (1, 'tool')")
        try await Tool.python(
            fixture.path,
            "connection.execute(\"UPDATE Item SET name = 'python', count = 1\")"
        )
        try await Tool.sqlite3(fixture.path, "UPDATE Item SET count = count + 1")
        #expect(
            try fixture.drained() == [
                "CreateObject Item 1", "Item 1: name = \"python\"", "Item 1: count = 2",
            ]
        )
    }
}
