import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing

/// The scalar rows of the worked example (local realm, 10), statement by statement.
@Suite("The worked example: the log and instructions of each statement")
struct WorkedExampleTests {
    static let a = "5f63e882536d46e4718779a0"
    static let b = "5f63e882536d46e4718779b0"
    static let k = "5f63e882536d46e471877900"

    let fixture: RealmFixture

    init() throws {
        let key = PrimaryKeySchema(name: "_id", type: .objectID, isNullable: false)
        fixture = try RealmFixture(
            RealmSchema([
                ClassSchema(
                    name: "Task",
                    kind: .topLevel(key),
                    properties: [
                        .init(name: "title", type: .string, isNullable: false),
                        .init(name: "done", type: .bool, isNullable: false),
                        .init(name: "priority", type: .int, isNullable: true),
                        .init(name: "due", type: .timestamp, isNullable: true),
                        .init(name: "owner", type: .link(target: "Person"), isNullable: true),
                    ]
                ),
                ClassSchema(
                    name: "Person",
                    kind: .topLevel(key),
                    properties: [.init(name: "name", type: .string, isNullable: false)]
                ),
            ])
        )
        _ = try fixture.realm.drain()
    }

    /// Runs SQL with the tool, and returns the log and the resulting instructions.
    private func run(_ sql: String) async throws -> (log: [String], sent: [String]) {
        try await Tool.sqlite3(fixture.path, sql)
        return (try fixture.captured(), try fixture.drained())
    }

    private func row() async throws -> String {
        try await Tool.sqlite3(fixture.path, "SELECT * FROM Task WHERE _id = '\(Self.a)'")
    }

    @Test("INSERT, UPDATE, REPLACE, UPSERT, IGNORE, DELETE in one life of an object")
    func example() async throws {
        let (a, b, k) = (Self.a, Self.b, Self.k)
        var result = try await run(
            """
            INSERT INTO Person(_id, name) VALUES ('\(k)', 'Kim');
            INSERT INTO Task(_id, title, owner) VALUES ('\(a)', 'Paint', '\(k)');
            """
        )
        #expect(result.log == ["\(k),insert", "\(a),insert"])
        #expect(
            result.sent == [
                "CreateObject Person \(k)", "CreateObject Task \(a)",
                "Person \(k): name = \"Kim\"", "Task \(a): title = \"Paint\"",
                "Task \(a): owner = Person(\(k))",
            ]
        )

        result = try await run(
            "UPDATE Task SET title='Paint wall', due='2026-03-04 05:06:07' WHERE _id='\(a)'"
        )
        #expect(result.log == ["\(a),due,null", "\(a),title,Paint"])
        #expect(
            result.sent == [
                "Task \(a): title = \"Paint wall\"", "Task \(a): due = 1772600767s 0ns",
            ]
        )
        #expect(try await row() == "\(a)|Paint wall|0||2026-03-04T05:06:07.000000000Z|\(k)\n")

        result = try await run(
            """
            UPDATE Task SET title='Paint wall', done=1, priority=NULL,
              due='2026-03-04T05:06:07.000000000Z', owner='\(k)'
            """
        )
        #expect(result.log == ["\(a),done,0"])
        #expect(result.sent == ["Task \(a): done = true"])

        result = try await run(
            "INSERT OR REPLACE INTO Task(_id, title, owner) VALUES ('\(a)', 'Redo', '\(k)')"
        )
        #expect(
            result.log == [
                "\(a),exists", "\(a),title,Paint wall", "\(a),done,1",
                "\(a),due,2026-03-04T05:06:07.000000000Z", "\(a),insert",
            ]
        )
        #expect(
            result.sent == [
                "Task \(a): title = \"Redo\"", "Task \(a): done = false", "Task \(a): due = null",
            ]
        )

        result = try await run(
            """
            INSERT INTO Task(_id, title) VALUES ('\(a)', 'x')
              ON CONFLICT(_id) DO UPDATE SET priority = 5
            """
        )
        #expect(
            result.log == [
                "\(a),exists", "\(a),title,Redo", "\(a),owner,\(k)", "\(a),priority,null",
            ]
        )
        #expect(result.sent == ["Task \(a): priority = 5"])

        result = try await run("INSERT OR IGNORE INTO Task(_id, title) VALUES ('\(a)', 'zzz')")
        #expect(
            result.log == [
                "\(a),exists", "\(a),title,Redo", "\(a),priority,5", "\(a),owner,\(k)",
            ]
        )
        #expect(result.sent.isEmpty)

        result = try await run(
            """
            DELETE FROM Task WHERE _id = '\(a)';
            INSERT INTO Task(_id, title, owner) VALUES ('\(a)', 'Again', '\(k)');
            """
        )
        #expect(result.log == ["\(a),delete", "\(a),insert"])
        #expect(
            result.sent == [
                "EraseObject Task \(a)", "CreateObject Task \(a)", "Task \(a): title = \"Again\"",
                "Task \(a): owner = Person(\(k))",
            ]
        )

        result = try await run("DELETE FROM Person WHERE _id = '\(k)'")
        #expect(result.log == ["\(k),delete"])
        #expect(result.sent == ["Task \(a): owner = null", "EraseObject Person \(k)"])

        result = try await run(
            "INSERT INTO Task(_id) VALUES ('\(b)'); DELETE FROM Task WHERE _id = '\(b)'"
        )
        #expect(result.log == ["\(b),insert", "\(b),delete"])
        #expect(result.sent.isEmpty)
    }

    @Test(
        "Values that no replica can hold are refused in the statement, with a message",
        arguments: [
            (
                "INSERT INTO Task(due) VALUES ('tomorrow')",
                "CHECK constraint failed: Task.due must be a timestamp"
            ),
            (
                "INSERT INTO Task(done) VALUES (2)",
                "CHECK constraint failed: Task.done must be 0 or 1"
            ),
            (
                "INSERT INTO Task(_id) VALUES ('5F63E882536D46E4718779A0')",
                "CHECK constraint failed: Task._id must be an ObjectId (24 lower-case hex digits)"
            ),
            (
                "INSERT INTO Task(owner) VALUES ('kim')",
                "CHECK constraint failed: Task.owner must be the _id of a Person"
            ),
            ("INSERT INTO Task(title) VALUES (NULL)", "NOT NULL constraint failed: Task.title"),
            (
                "INSERT INTO Task(priority) VALUES ('high')",
                "cannot store TEXT value in INTEGER column Task.priority"
            ),
            (
                """
                INSERT INTO Task(title) VALUES ('x');
                UPDATE Task SET _id = '5f63e882536d46e4718779ff'
                """,
                "Task._id is the primary key and cannot change"
            ),
        ]
    )
    func refusals(sql: String, message: String) async throws {
        let failure = try await #require(throws: Tool.Failure.self) {
            try await Tool.sqlite3(fixture.path, sql)
        }
        #expect(failure.description.contains(message), "\(failure)")
        let error = try await Tool.python(
            fixture.path,
            """
            try:
                connection.executescript(\"\"\"\(sql)\"\"\")
            except sqlite3.Error as error:
                print(error)
            """
        )
        #expect(error == "\(message)\n")
    }

    @Test("A row inserted without a key gets one, and the statement can return it")
    func generatedKeys() async throws {
        let key = try await Tool.sqlite3(
            fixture.path,
            "INSERT INTO Task(title) VALUES ('new') RETURNING _id"
        ).prefix(24)
        #expect(ObjectID(key) != nil)
        #expect(
            try fixture.drained() == [
                "CreateObject Task \(key)", "Task \(key): title = \"new\"",
            ]
        )
    }
}
