import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing
import Versions

/// The rows of the worked example about JSON columns (local realm, 10), and nullification.
@Suite("Writes to collections, embedded objects and Mixed, and the resulting instructions")
struct CollectionCaptureTests {
    static let a = "5f63e882536d46e4718779a0"
    static let k = "5f63e882536d46e471877900"

    let fixture: RealmFixture

    init() throws {
        fixture = try RealmFixture(Self.schema)
        _ = try fixture.realm.drain()
    }

    private static let schema = RealmSchema([
        ClassSchema(
            name: "Task",
            kind: .topLevel(.objectID),
            properties: [
                .init(name: "title", type: .string, isNullable: false),
                .init(name: "owner", type: .link(target: "Person"), isNullable: true),
                .init(name: "tags", type: .string, isNullable: false, collection: .list),
                .init(name: "labels", type: .string, isNullable: false, collection: .set),
                .init(name: "attributes", type: .mixed, isNullable: true, collection: .dictionary),
                .init(name: "address", type: .link(target: "Address"), isNullable: true),
                .init(name: "extra", type: .mixed, isNullable: true),
                .init(
                    name: "members",
                    type: .link(target: "Person"),
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
        ClassSchema(
            name: "Person",
            kind: .topLevel(.objectID),
            properties: [.init(name: "name", type: .string, isNullable: false)]
        ),
        ClassSchema(
            name: "Address",
            kind: .embedded,
            properties: [
                .init(name: "street", type: .string, isNullable: false),
                .init(name: "city", type: .string, isNullable: true),
                .init(name: "zip", type: .int, isNullable: true),
                .init(name: "owner", type: .link(target: "Person"), isNullable: true),
            ]
        ),
    ])

    /// Runs SQL with the tool, and returns the resulting instructions, without the object's name.
    private func run(_ sql: String) async throws -> [String] {
        try await Tool.sqlite3(fixture.path, sql)
        return try fixture.drained().map { line in
            line.hasPrefix("Task \(Self.a): ") ? String(line.dropFirst(31)) : line
        }
    }

    private func prepare() async throws {
        _ = try await run(
            """
            INSERT INTO Person(_id, name) VALUES ('\(Self.k)', 'Kim');
            INSERT INTO Task(_id) VALUES ('\(Self.a)')
            """
        )
    }

    @Test("Lists, sets, dictionaries, embedded objects and Mixed in one life of an object")
    func example() async throws {
        let (a, k) = (Self.a, Self.k)
        #expect(
            try await run(
                """
                INSERT INTO Person(_id, name) VALUES ('\(k)', 'Kim');
                INSERT INTO Task(_id, title, owner, tags)
                  VALUES ('\(a)', 'Paint', '\(k)', '["red","wet"]')
                """
            ) == [
                "CreateObject Person \(k)", "CreateObject Task \(a)",
                "Person \(k): name = \"Kim\"", "title = \"Paint\"", "owner = Person(\(k))",
                "tags[0] insert \"red\" p0", "tags[1] insert \"wet\" p1",
            ]
        )
        #expect(
            try await run(
                """
                UPDATE Task SET tags = json_insert(tags, '$[#]', 'new');
                UPDATE Task SET tags = json_remove(tags, '$[0]')
                """
            ) == ["tags[0] erase p2", "tags[1] insert \"new\" p1"]
        )
        #expect(
            try await run(#"UPDATE Task SET tags = ' [ "wet" , "old" ] '"#)
                == ["tags[1] = \"old\" p2"]
        )
        #expect(try fixture.rows("SELECT tags FROM Task") == [#"["wet","old"]"#])
        #expect(
            try await run(
                """
                UPDATE Task SET labels = '["b","a","a"]'; UPDATE Task SET labels = '["a","c"]'
                """
            ) == ["labels add \"a\"", "labels add \"c\""]
        )
        #expect(
            try await run(
                """
                UPDATE Task SET attributes = json_set(attributes, '$.size', 3, '$.ref',
                  json('{"$link":{"class":"Person","key":"\(k)"}}'));
                UPDATE Task SET attributes = json_remove(attributes, '$.size')
                """
            ) == ["attributes.ref = Person(\(k))"]
        )
        #expect(
            try await run(
                "UPDATE Task SET address = json_object('street', 'Main 1', 'zip', 1010)"
            ) == ["address = objectValue", "address.street = \"Main 1\"", "address.zip = 1010"]
        )
        #expect(
            try await run(
                "UPDATE Task SET address = json_set(address, '$.zip', 1020, '$.city', 'Wien')"
            ) == ["address.city = \"Wien\"", "address.zip = 1020"]
        )
        #expect(try await run(#"UPDATE Task SET extra = '"note"'"#) == ["extra = \"note\""])
        #expect(
            try await run(#"UPDATE Task SET extra = '[1,{"a":true}]'"#) == [
                "extra = list", "extra[0] insert 1 p0", "extra[1] insert dictionary p1",
                "extra[1].a = true",
            ]
        )
        #expect(
            try await run("UPDATE Task SET extra = json_set(extra, '$[1].b', 2, '$[0]', 5)")
                == ["extra[0] = 5 p2", "extra[1].b = 2"]
        )
        #expect(
            try await run(
                "INSERT OR REPLACE INTO Task(_id, title, owner) VALUES ('\(a)', 'Redo', '\(k)')"
            ) == [
                "title = \"Redo\"", "address = null", "extra = null", "tags clear list",
                "labels clear set", "attributes clear dictionary",
            ]
        )
    }

    @Test("A writer that rewrites whole rows with other JSON spelling sends only the differences")
    func wholeRows() async throws {
        try await prepare()
        _ = try await run(
            """
            UPDATE Task SET tags = '["a","b"]', labels = '["y","x"]', attributes = '{"b":1,"a":2}',
              address = '{"zip":1}', extra = '{"k":[1,2]}'
            """
        )
        let program = """
            import json
            row = connection.execute("SELECT * FROM Task").fetchone()
            columns = [c[1] for c in connection.execute("PRAGMA table_info(Task)")]
            task = dict(zip(columns, row))
            for column in ("tags", "labels", "attributes", "address", "extra", "members"):
                task[column] = json.loads(task[column])
            task["tags"].append("c")
            task["address"]["city"] = "Linz"
            task["attributes"] = dict(reversed(list(task["attributes"].items())))
            for column in ("tags", "labels", "attributes", "address", "extra", "members"):
                task[column] = json.dumps(task[column], indent=2)
            columns.remove("_id")
            assignments = ", ".join(f'"{c}" = :{c}' for c in columns)
            connection.execute(f"UPDATE Task SET {assignments} WHERE _id = :_id", task)
            """
        try await Tool.python(fixture.path, program)
        #expect(
            try fixture.drained().map { $0.dropFirst(31) } == [
                "address.city = \"Linz\"", "tags[2] insert \"c\" p2",
            ]
        )
        #expect(try fixture.rows("SELECT tags FROM Task") == [#"["a","b","c"]"#])
    }

    @Test("Deleting an object removes the links to it at any place in JSON")
    func nullification() async throws {
        let k = Self.k
        try await prepare()
        let link = #"{"$link":{"class":"Person","key":"\#(k)"}}"#
        _ = try await run(
            """
            UPDATE Task SET owner = '\(k)', members = '["\(k)","\(Self.a)","\(k)"]',
              attributes = '{"ref":\(link),"n":1}', address = '{"owner":"\(k)"}',
              extra = '[1,[{"deep":\(link)}],\(link)]'
            """
        )
        let sent = try await run("DELETE FROM Person")
        #expect(
            sent == [
                "owner = null", "address.owner = null", "extra[1][0].deep = null",
                "extra[2] erase p3", "attributes.ref = null", "members[0] erase p3",
                "members[1] erase p2", "EraseObject Person \(k)",
            ]
        )
        #expect(
            try fixture.rows("SELECT owner, members, attributes, extra FROM Task")
                == [#"null|["\#(Self.a)"]|{"n":1,"ref":null}|[1,[{"deep":null}]]"#]
        )
        let left = try fixture.rows("SELECT prop FROM _realm_backlink")
        // The dangling one, whose target was not deleted here.
        #expect(left.count == 1)
    }

    @Test("Links that the same transaction wrote are removed, too; those of the server stay")
    func nullificationOfNewLinks() async throws {
        try await prepare()
        #expect(
            try await run(
                """
                UPDATE Task SET members = '["\(Self.k)"]'; DELETE FROM Person
                """
            ) == ["EraseObject Person \(Self.k)"]
        )
        #expect(try fixture.rows("SELECT members FROM Task") == ["[]"])
        let other = ObjectReference(className: "Person", key: .objectID(.zero))
        let task = ObjectReference(
            className: "Task",
            key: .objectID(try #require(ObjectID(Self.a)))
        )
        try fixture.receive { writer in
            writer.createObject(other)
            writer.arrayInsert(
                task,
                "members",
                path: [.index(0)],
                .scalar(.link(other)),
                priorSize: 0
            )
        }
        try fixture.receive { $0.eraseObject(other) }
        let members = "SELECT members FROM Task"
        #expect(try fixture.rows(members) == [#"["000000000000000000000000"]"#])
        #expect(try fixture.drained() == [])
    }

    @Test("A value that only the drain can reject is restored, kept and reported")
    func rejects() async throws {
        try await prepare()
        _ = try await run(#"UPDATE Task SET extra = '{"a":1}', tags = '["x"]'"#)
        let program = try fixture.connect()
        let values = [
            ("extra", #"{"a":{"$oid":"short"}}"#), ("extra", #"{"a":1e400000}"#),
            ("extra", #"[{"$unknown":1}]"#), ("extra", #""\ud800""#),
            ("attributes", #"{"a":{"b.c":1}}"#),
        ]
        for (column, value) in values {
            try program.run(
                "UPDATE Task SET \(column) = ?, title = ?",
                [.text(value), .text(value)]
            )
            let report = try fixture.realm.drain()
            #expect(report.rejected.map(\.property) == [Text(column)], "\(value)")
            #expect(try fixture.rows("SELECT extra FROM Task") == [#"{"a":1}"#])
        }
        let kept = try fixture.realm.rejectedWrites()
        #expect(kept.count == values.count)
        #expect(kept.allSatisfy { $0.className == "Task" && $0.key == "'\(Self.a)'" })
        #expect(try fixture.realm.rejectedWrites(limit: 2).count == 2)
        #expect(try fixture.history().last?.lines.count == 1)
    }

    @Test("Counters in embedded objects add up like those of the object")
    func counters() throws {
        let option = PropertyName(className: "Address", property: "zip")
        try fixture.reopen(Self.schema, options: [option: .init(isCounter: true)])
        let program = try fixture.connect()
        try program.execute(
            #"INSERT INTO Task(_id, address) VALUES ('\#(Self.a)', '{"zip":5}')"#
        )
        #expect(try fixture.drained().last == "Task \(Self.a): address.zip = 5")
        try program.execute("UPDATE Task SET address = json_set(address, '$.zip', 7)")
        #expect(try fixture.drained() == ["Task \(Self.a): address.zip += 2"])
        #expect(try fixture.rows("SELECT sum(counter) FROM _realm_property") == ["1"])
    }
}
