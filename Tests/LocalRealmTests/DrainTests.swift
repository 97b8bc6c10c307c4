import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing
import Versions

@Suite("Draining the capture log")
struct DrainTests {
    let fixture: RealmFixture
    let program: Connection

    static let schema = RealmSchema([
        ClassSchema(
            name: "Item",
            kind: .topLevel(.int),
            properties: [
                .init(name: "name", type: .string, isNullable: false),
                .init(name: "count", type: .int, isNullable: true),
                .init(name: "box", type: .link(target: "Item"), isNullable: true),
                .init(name: "price", type: .decimal, isNullable: true),
                .init(name: "at", type: .timestamp, isNullable: true),
                .init(name: "size", type: .float, isNullable: true),
            ]
        ),
        ClassSchema(
            name: "Tag",
            kind: .topLevel(.init(name: "_id", type: .string, isNullable: true)),
            properties: [.init(name: "next", type: .link(target: "Tag"), isNullable: true)]
        ),
    ])

    static let options = [
        PropertyName(className: "Item", property: "count"): PropertyOptions(isCounter: true)
    ]

    init() throws {
        fixture = try RealmFixture(Self.schema, options: Self.options)
        _ = try fixture.realm.drain()
        program = try fixture.connect()
    }

    private func given(_ sql: String) throws {
        try program.execute(sql)
        _ = try fixture.realm.drain()
    }

    /// Runs statements that count as a minute apart, so that each is a group of its own.
    private func runApart(_ statements: String...) throws -> [[String]] {
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        var at: Int64 = RealmFixture.instant
        for sql in statements {
            let last = try program.integer("SELECT max(seq) FROM _realm_capture") ?? 0
            try program.execute(sql)
            try program.run(
                "UPDATE _realm_capture SET at = ? WHERE seq > ?",
                [.integer(at), .integer(last)]
            )
            at += 60_000
        }
        _ = try fixture.realm.drain()
        return try fixture.history(after: start).map(\.lines)
    }

    @Test("Distant writes become changesets with their own stamps; close ones share one")
    func groups() throws {
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        try program.execute(
            """
            INSERT INTO Item(_id) VALUES (1), (2), (3);
            UPDATE _realm_capture SET at = \(RealmFixture.instant) WHERE key = 1;
            UPDATE _realm_capture SET at = \(RealmFixture.instant + 10_000) WHERE key = 2;
            UPDATE _realm_capture SET at = \(RealmFixture.instant + 20_001) WHERE key = 3;
            """
        )
        let report = try fixture.realm.drain()
        #expect(report.changesetCount == 2)
        let history = try fixture.history(after: start)
        #expect(
            history.map(\.lines) == [
                ["CreateObject Item 1", "CreateObject Item 2"], ["CreateObject Item 3"],
            ]
        )
        let epoch = OriginTimestamp.epochOffsetInMilliseconds
        #expect(
            history.map(\.timestamp) == [
                RealmFixture.instant + 10_000 - epoch, RealmFixture.instant + 20_001 - epoch,
            ]
        )
        #expect(history.map(\.version) == [start + 1, start + 2])
        #expect(report.localVersion == fixture.realm.status.localVersion)
    }

    @Test("A transaction of very many objects is one changeset: no replica sees half of it")
    func manyObjects() throws {
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        try program.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
            INSERT INTO Item(_id, name) SELECT i, 'item ' || i FROM n
            """
        )
        #expect(try fixture.realm.drain().changesetCount == 1)
        let history = try fixture.history(after: start)
        #expect(history.map(\.lines.count) == [2 * 50_000])
        #expect(history.first?.lines[49_999] == "CreateObject Item 50000")
    }

    @Test("Each group sends its changes, with the values at its end")
    func intermediateValues() throws {
        #expect(
            try runApart(
                "INSERT INTO Item(_id, name) VALUES (1, 'a')",
                "UPDATE Item SET name = 'b'",
                "UPDATE Item SET name = 'c', size = 2",
                "UPDATE Item SET name = 'c'"
            ) == [
                ["CreateObject Item 1", "Item 1: name = \"a\""],
                ["Item 1: name = \"b\""],
                ["Item 1: name = \"c\"", "Item 1: size = 2.0"],
            ]
        )
    }

    @Test("A value changed and changed back in one group is not sent; in two groups, twice")
    func thereAndBack() throws {
        try given("INSERT INTO Item(_id, name) VALUES (1, 'a')")
        try program.execute("UPDATE Item SET name = 'b'; UPDATE Item SET name = 'a'")
        #expect(try fixture.drained() == [])
        #expect(
            try runApart("UPDATE Item SET name = 'b'", "UPDATE Item SET name = 'a'")
                == [["Item 1: name = \"b\""], ["Item 1: name = \"a\""]]
        )
    }

    @Test("An object created in one group and deleted in a later one is not sent")
    func createdAndDeleted() throws {
        #expect(
            try runApart(
                "INSERT INTO Item(_id, name) VALUES (1, 'a'), (2, 'b')",
                "UPDATE Item SET name = 'x' WHERE _id = 1",
                "DELETE FROM Item WHERE _id = 1"
            ) == [["CreateObject Item 2", "Item 2: name = \"b\""]]
        )
    }

    @Test("An object deleted later sends its erasure alone, in the group that deleted it")
    func updatedAndDeleted() throws {
        try given("INSERT INTO Item(_id, name) VALUES (1, 'a')")
        #expect(
            try runApart("UPDATE Item SET name = 'b'", "DELETE FROM Item", "SELECT 1")
                == [["EraseObject Item 1"]]
        )
    }

    @Test("Deleted and created again: in one group, and in two")
    func recreated() throws {
        try given("INSERT INTO Item(_id, name) VALUES (1, 'a')")
        #expect(
            try runApart(
                "DELETE FROM Item; INSERT INTO Item(_id, name) VALUES (1, 'b')",
                "UPDATE Item SET name = 'c'"
            ) == [
                ["EraseObject Item 1", "CreateObject Item 1", "Item 1: name = \"b\""],
                ["Item 1: name = \"c\""],
            ]
        )
        #expect(
            try runApart(
                "DELETE FROM Item",
                "INSERT INTO Item(_id, name) VALUES (1, 'd')",
                "DELETE FROM Item",
                "INSERT INTO Item(_id, name) VALUES (1, 'e')"
            ) == [
                ["EraseObject Item 1"], ["CreateObject Item 1", "Item 1: name = \"e\""],
            ]
        )
        #expect(
            try runApart(
                "DELETE FROM Item",
                "INSERT INTO Item(_id, name) VALUES (1, 'f')",
                "DELETE FROM Item"
            ) == [["EraseObject Item 1"]]
        )
    }

    @Test("Deleting an object clears all links to it")
    func nullification() throws {
        try given(
            """
            INSERT INTO Item(_id, box) VALUES (1, 1), (2, 1), (3, 1), (4, 2);
            INSERT INTO Tag(_id, next) VALUES (NULL, 'a'), ('a', x''), ('b', x'');
            """
        )
        try program.execute("DELETE FROM Item WHERE _id IN (1, 3)")
        #expect(
            try fixture.drained() == [
                "Item 2: box = null", "EraseObject Item 1", "EraseObject Item 3",
            ]
        )
        #expect(try fixture.rows("SELECT _id, box FROM Item") == ["2|null", "4|2"])
        try program.execute("DELETE FROM Tag WHERE _id IS NULL")
        #expect(
            try fixture.drained() == [
                "Tag \"a\": next = null", "Tag \"b\": next = null", "EraseObject Tag null",
            ]
        )
    }

    @Test("A link to an object that is deleted in a later group is sent, then cleared")
    func nullificationAcrossGroups() throws {
        try given("INSERT INTO Item(_id) VALUES (1), (2)")
        #expect(
            try runApart("UPDATE Item SET box = 1 WHERE _id = 2", "DELETE FROM Item WHERE _id = 1")
                == [["Item 2: box = Item(1)"], ["Item 2: box = null", "EraseObject Item 1"]]
        )
        #expect(
            try runApart(
                "INSERT INTO Item(_id, box) VALUES (3, 2)",
                "DELETE FROM Item WHERE _id = 2"
            )
                == [
                    ["CreateObject Item 3", "Item 3: box = Item(2)"],
                    ["Item 3: box = null", "EraseObject Item 2"],
                ]
        )
    }

    @Test("A dangling link is sent unchanged")
    func danglingLink() throws {
        try program.execute("INSERT INTO Item(_id, box) VALUES (1, 99)")
        #expect(try fixture.drained() == ["CreateObject Item 1", "Item 1: box = Item(99)"])
    }

    @Test("A counter sends increments, but a first or last value unchanged")
    func counters() throws {
        try program.execute("INSERT INTO Item(_id, count) VALUES (1, 5)")
        #expect(try fixture.drained() == ["CreateObject Item 1", "Item 1: count = 5"])
        try program.execute(
            "UPDATE Item SET count = count + 3; UPDATE Item SET count = count - 10"
        )
        #expect(try fixture.drained() == ["Item 1: count += -7"])
        try program.execute("UPDATE Item SET count = NULL")
        #expect(try fixture.drained() == ["Item 1: count = null"])
        try program.execute("UPDATE Item SET count = 9223372036854775807")
        #expect(try fixture.drained() == ["Item 1: count = 9223372036854775807"])
        try program.execute("UPDATE Item SET count = -9223372036854775808")
        #expect(try fixture.drained() == ["Item 1: count += 1"])
    }

    @Test("Rows hold canonical text after the drain, and a new spelling of a value sends nothing")
    func canonicalForm() throws {
        try program.execute(
            """
            INSERT INTO Item(_id, price, at, size)
            VALUES (1, '+1.50', '2026-03-04 06:06:07.5+01:00', 0.1), (2, 3, '@-1.-5', 7)
            """
        )
        _ = try fixture.realm.drain()
        let rows = [
            "1|1.50|2026-03-04T05:06:07.500000000Z|0.10000000149011612",
            "2|3|1969-12-31T23:59:58.999999995Z|7.0",
        ]
        #expect(try fixture.rows("SELECT _id, price, at, size FROM Item") == rows)
        try program.execute(
            """
            UPDATE Item SET price = '+1.50', at = '2026-03-04 07:06:07.5+02:00', size = 0.1
            WHERE _id = 1
            """
        )
        #expect(try fixture.drained() == [])
        #expect(try fixture.rows("SELECT _id, price, at, size FROM Item") == rows)
    }

    @Test("A value that cannot be sent is restored and reported; the rest is sent")
    func rejectedValues() throws {
        try given("INSERT INTO Item(_id, name, price) VALUES (1, 'a', '2.5')")
        try program.execute(
            """
            UPDATE Item SET price = '12345678901234567890123456789012345', name = 'b';
            INSERT INTO Item(_id, price) VALUES (2, '1E+7000');
            """
        )
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        let report = try fixture.realm.drain()
        #expect(
            report.rejected.map { "\($0.className) \($0.key) \($0.property ?? "-")" }
                == ["Item 1 price", "Item 2 price"]
        )
        #expect(report.rejected[0].reason.contains("34 digits"))
        #expect(
            try fixture.history(after: start).flatMap(\.lines) == [
                "CreateObject Item 2", "Item 1: name = \"b\"",
            ]
        )
        #expect(try fixture.rows("SELECT _id, price FROM Item") == ["1|2.5", "2|null"])
        #expect(
            try fixture.rows("SELECT key, value FROM _realm_issue ORDER BY id") == [
                "1|12345678901234567890123456789012345", "2|1E+7000",
            ]
        )
    }

    @Test("A value of a wrong type, written with the checks off, is restored to the last one sent")
    func checksOff() throws {
        try given("INSERT INTO Item(_id, at) VALUES (1, '2026-01-01')")
        try program.execute("PRAGMA ignore_check_constraints = ON")
        #expect(
            try runApart(
                "UPDATE Item SET at = '2026-01-02'",
                "UPDATE Item SET at = 'soon'",
                "UPDATE Item SET at = 'later'"
            ) == [["Item 1: at = 1767312000s 0ns"]]
        )
        #expect(try fixture.rows("SELECT at FROM Item") == ["2026-01-02T00:00:00.000000000Z"])
    }

    @Test("A row whose key cannot be sent is removed and reported")
    func impossibleKey() throws {
        let schema = RealmSchema([ClassSchema(name: "Task", kind: .topLevel(.objectID))])
        let fixture = try RealmFixture(schema)
        _ = try fixture.realm.drain()
        let program = try fixture.connect()
        try program.execute(
            """
            PRAGMA ignore_check_constraints = ON;
            INSERT INTO Task VALUES ('no object id'), ('5f63e882536d46e471877900')
            """
        )
        let report = try fixture.realm.drain()
        #expect(report.rejected.map(\.key) == ["'no object id'"])
        #expect(report.rejected.map(\.property) == [nil])
        #expect(try fixture.rows("SELECT * FROM Task") == ["5f63e882536d46e471877900"])
        #expect(try fixture.history().last?.lines == ["CreateObject Task 5f63e882536d46e471877900"])
    }

    @Test("Stamps never go backwards, even if the clock does")
    func backwardClock() throws {
        let offsets: [Int64] = [60_000, 0, 120_000]
        let stamps = try offsets.map { offset -> Int64 in
            try program.execute(
                """
                INSERT INTO Item(_id) VALUES ((SELECT count(*) FROM Item));
                UPDATE _realm_capture SET at = \(RealmFixture.instant + offset)
                """
            )
            _ = try fixture.realm.drain()
            let entry = try #require(try fixture.history().last)
            return entry.timestamp - RealmFixture.instant
                + OriginTimestamp.epochOffsetInMilliseconds
        }
        #expect(stamps == [60_000, 60_000, 120_000])
    }

    @Test("A clock before 2015 stops the drain until it is set, and loses nothing")
    func clockBeforeEpoch() throws {
        try program.execute(
            "INSERT INTO Item(_id) VALUES (1); UPDATE _realm_capture SET at = 5000"
        )
        fixture.clock.now = 6000
        let error = try #require(throws: LocalRealmError.self) { try fixture.realm.drain() }
        #expect(error.kind == .clockBeforeEpoch)
        #expect(error.isTransient)
        fixture.clock.now = RealmFixture.instant
        #expect(try fixture.drained() == ["CreateObject Item 1"])
    }

    @Test("A changeset that would be too large is cut between objects, and nothing is lost")
    func largeChangesets() throws {
        try program.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
            INSERT INTO Item(_id, name) SELECT i, hex(zeroblob(4000000)) FROM n
            """
        )
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        #expect(try fixture.realm.drain().changesetCount == 3)
        let history = try fixture.history(after: start)
        #expect(history.map(\.changeset.instructions.count) == [7, 2, 1])
        #expect(Set(history.map(\.timestamp)).count == 1)
    }

    /// Runs statements a number of milliseconds after each other, each with its delay.
    private func run(_ statements: [(after: Int64, sql: String)]) throws {
        var at = RealmFixture.instant
        for (delay, sql) in statements {
            at += delay
            let last = try program.integer("SELECT max(seq) FROM _realm_capture") ?? 0
            try program.execute(sql)
            try program.run(
                "UPDATE _realm_capture SET at = ? WHERE seq > ?",
                [.integer(at), .integer(last)]
            )
        }
    }

    private static func insertion(_ id: Int) -> String {
        "INSERT INTO Item(_id, name) VALUES (\(id), hex(zeroblob(500)))"
    }

    @Test("Many statements are cut into changesets of limited size, and each stays whole")
    func cutBetweenStatements() throws {
        try reopen { $0.changesetSizeInBytes = 20_000 }
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        try run((1...100).map { (1, Self.insertion($0)) })
        #expect(try fixture.realm.drain().changesetCount > 4)
        let history = try fixture.history(after: start)
        for entry in history.dropLast() {
            #expect((16_000..<24_000).contains(entry.changeset.encoded().count))
        }
        // Each object comes with its values.
        #expect(
            history.map { entry in entry.lines.count { $0.hasPrefix("Create") } * 2 }
                == history.map(\.lines.count)
        )
        #expect(history.map(\.lines.count).reduce(0, +) == 200)
        #expect(Set(history.map(\.timestamp)).count == history.count)
    }

    @Test("From half of the size on, they are cut where a program has paused")
    func cutAtPauses() throws {
        try reopen { $0.changesetSizeInBytes = 20_000 }
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        // Transactions of three statements each.
        try run((1...60).map { ($0 % 3 == 1 ? 50 : 1, Self.insertion($0)) })
        _ = try fixture.realm.drain()
        let counts = try fixture.history(after: start).map { $0.lines.count / 2 }
        #expect(counts.count > 3)
        #expect(counts.allSatisfy { $0 % 3 == 0 })
    }

    @Test("A link to an object of the next changeset arrives, and so do changes across the cut")
    func linksAcrossCuts() throws {
        try reopen { $0.changesetSizeInBytes = 1 }
        let start = Int64(fixture.realm.status.localVersion.rawValue)
        try run([
            (0, "INSERT INTO Item(_id, box) VALUES (1, 2)"),
            (1, "INSERT INTO Item(_id) VALUES (2)"),
            (1, "UPDATE Item SET name = 'a' WHERE _id = 2"),
            (1, "UPDATE Item SET name = 'b' WHERE _id = 2"),
            (0, "UPDATE Item SET name = 'c' WHERE _id = 2"),
        ])
        _ = try fixture.realm.drain()
        #expect(
            try fixture.history(after: start).map(\.lines) == [
                ["CreateObject Item 1", "Item 1: box = Item(2)"],
                ["CreateObject Item 2"],
                ["Item 2: name = \"a\""],
                ["Item 2: name = \"c\""],
            ]
        )
    }

    private func reopen(_ adjust: (inout LocalRealmConfiguration) -> Void) throws {
        try fixture.reopen(Self.schema, options: Self.options, adjust)
        _ = try fixture.realm.drain()
    }

    @Test("Without writes a drain does nothing, and takes no lock")
    func nothingToDo() throws {
        let before = fixture.realm.status
        try program.execute("BEGIN IMMEDIATE")
        let report = try fixture.realm.drain()
        #expect(report == CaptureReport(localVersion: before.localVersion))
        #expect(fixture.realm.status == before)
    }

    @Test("Sizes of captured changesets count as still to upload")
    func uploadableBytes() throws {
        let before = fixture.realm.status.uploadableBytes
        try program.execute("INSERT INTO Item(_id) VALUES (1)")
        _ = try fixture.realm.drain()
        let size = try program.integer("SELECT size FROM _realm_history ORDER BY version DESC") ?? 0
        #expect(fixture.realm.status.uploadableBytes == before + UInt64(size))
    }
}
