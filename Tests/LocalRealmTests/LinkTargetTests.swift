import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing
import Versions

/// Local realm, 4.4 and 4.6: `links.require_target`.
@Suite("Links that need a target")
struct LinkTargetTests {
    private static let schema = RealmSchema([
        ClassSchema(
            name: "Item",
            kind: .topLevel(.int),
            properties: [
                .init(name: "box", type: .link(target: "Item"), isNullable: true),
                .init(
                    name: "parts",
                    type: .link(target: "Item"),
                    isNullable: false,
                    collection: .list
                ),
                .init(name: "extra", type: .mixed, isNullable: true),
            ]
        )
    ])

    private func fixture(requires: Bool = true) throws -> (RealmFixture, Connection) {
        let fixture = try RealmFixture(Self.schema) { $0.requiresLinkTargets = requires }
        _ = try fixture.realm.drain()
        return (fixture, try fixture.connect())
    }

    @Test(
        "A new link to a missing object is undone and reported, wherever it is",
        arguments: [
            ("box", "7", "null"), ("parts", "'[2,7]'", "[2]"),
            ("extra", #"'{"$link":{"class":"Item","key":7}}'"#, "null"),
        ]
    )
    func undone(column: String, value: String, before: String) throws {
        let (fixture, program) = try fixture()
        try program.execute(
            "INSERT INTO Item(_id) VALUES (1), (2); UPDATE Item SET parts = '[2]' WHERE _id = 1"
        )
        _ = try fixture.realm.drain()
        try program.execute("UPDATE Item SET \(column) = \(value) WHERE _id = 1")
        let report = try fixture.realm.drain()
        #expect(report.rejected.map(\.property) == [Text(column)])
        #expect(report.rejected.first?.reason == "must link to an object of Item that exists")
        #expect(report.changesetCount == 0)
        #expect(try fixture.rows("SELECT \(column) FROM Item WHERE _id = 1") == [before])
    }

    @Test("A new object keeps its other values, and targets of the same transaction exist")
    func newObjects() throws {
        let (fixture, program) = try fixture()
        try program.execute("INSERT INTO Item(_id, box, parts) VALUES (1, 9, '[2]'), (2, 1, '[]')")
        let report = try fixture.realm.drain()
        #expect(report.rejected.map(\.property) == ["box"])
        #expect(try fixture.rows("SELECT _id, box, parts FROM Item") == ["1|null|[2]", "2|1|[]"])
    }

    @Test("Links that the server left dangling stay while other parts of the value change")
    func olderLinks() throws {
        let (fixture, program) = try fixture()
        try program.execute("INSERT INTO Item(_id) VALUES (1), (2), (3)")
        try program.execute("UPDATE Item SET parts = '[2]' WHERE _id = 1")
        let drained = try fixture.realm.drain()
        try fixture.receive(after: drained.localVersion.rawValue) {
            $0.eraseObject(.init("Item", 2))
        }
        try program.execute("UPDATE Item SET parts = '[2,3]' WHERE _id = 1")
        #expect(try fixture.realm.drain().rejected == [])
        #expect(try fixture.rows("SELECT parts FROM Item WHERE _id = 1") == ["[2,3]"])
    }

    @Test("Without the key every link is uploaded")
    func notRequired() throws {
        let (fixture, program) = try fixture(requires: false)
        try program.execute("INSERT INTO Item(_id, box) VALUES (1, 7)")
        #expect(try fixture.realm.drain().rejected == [])
        #expect(try fixture.rows("SELECT box FROM Item") == ["7"])
    }
}
