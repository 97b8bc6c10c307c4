import Changesets
import ClientReset
import Documents
import FoundationEssentials
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// Client reset, 3: changes that a reset discards can be read and written again.
@Suite("Writes that a reset discarded")
struct DiscardedWritesTests {
    /// The form of a discarded change.
    enum Form: CaseIterable {
        case line
        /// As written by version 1: only the properties and the object.
        case earlierLine
        /// The statement of the line, run by hand.
        case sql
    }

    /// Writes the objects again as `realm-agent ingest --recovered` does, or by hand.
    @discardableResult
    private func writeAgain(
        _ objects: [UnsyncedObject],
        into fixture: RealmFixture,
        _ form: Form = .line
    ) throws -> [RecoveredOutcome] {
        if form == .sql {
            try fixture.connect().execute(objects.map(\.sql).joined(separator: "\n"))
            return []
        }
        let lines = try objects.enumerated().map { index, object in
            let line = form == .line ? try object.line : Self.earlierLine(object)
            return Ingest.Line(number: index + 1, bytes: line)
        }
        let ingest = try Ingest(into: fixture.path, .recovered)
        defer { ingest.close() }
        return try ingest.write(lines, isRehearsal: false)
    }

    private static func earlierLine(_ object: UnsyncedObject) -> [UInt8] {
        func json(_ texts: [String]) -> String {
            let data = (try? JSONEncoder().encode(texts)) ?? Data()
            return String(decoding: data, as: UTF8.self)
        }
        let key = json([object.key]).dropFirst().dropLast()
        let head =
            #"{"class":\#(json([object.className.description]).dropFirst().dropLast()),"#
            + #""isDeleted":\#(object.isDeleted),"key":\#(key),"#
            + #""properties":\#(json(object.properties.map(\.description))),"sql":"","object":"#
        return Array(head.utf8) + (object.document ?? Array("null".utf8)) + Array("}".utf8)
    }

    @Test(
        "Written again, they restore the realm's state before the reset",
        arguments: Form.allCases
    )
    func random(form: Form) throws {
        var count = 0
        for seed in Seeds.some(40) {
            var world = RandomWorld(seed: seed, .whole)
            let server = ServerModel()
            let fixture = try RealmFixture(world.schema)
            try fixture.realm.storeFileIdent(server.register())
            for _ in 0..<6 { try world.write(to: fixture) }
            try fixture.exchange(with: server)
            for _ in 0..<6 { try world.write(to: fixture) }
            _ = try fixture.realm.drain()
            let before = try TableContents(world.schema, fixture.connect())

            let report = try fixture.reset(with: server, .discard)
            #expect(try TableContents(world.schema, fixture.connect()) == .init(server.state))
            count += report.unsynced.count
            do {
                try writeAgain(report.unsynced, into: fixture, form)
            } catch {
                Issue.record("seed \(seed): \(error)")
                continue
            }
            let after = try TableContents(world.schema, fixture.connect())
            #expect(after == before, "seed \(seed)")
            #expect(try fixture.realm.drain().rejected == [])
        }
        print("discarded and written again: \(count) objects")
        #expect(count > 100)
    }

    @Test("Objects of an asymmetric class are no longer in a table, but are kept whole")
    func asymmetric() throws {
        let server = ServerModel()
        let fixture = try RealmFixture(.wholeModel)
        try fixture.realm.storeFileIdent(server.register())
        try fixture.exchange(with: server)
        let program = try fixture.connect()
        try program.execute(
            """
            INSERT INTO Event(_id, what, "values")
            VALUES ('0123456789abcdef01234567', 'it''s on', '[1,2]')
            """
        )
        let sent = try fixture.drained()
        let report = try fixture.reset(with: server, .discard)
        let object = try #require(report.unsynced.first)
        #expect(!object.isDeleted)
        let document = String(decoding: object.document ?? [], as: UTF8.self)
        #expect(document.contains("it's on"))
        #expect(document.contains("[1,2]"))
        try writeAgain(report.unsynced, into: fixture)
        #expect(try fixture.drained() == sent)
    }

    /// Gives the server a changeset of another client, which has everything up to that version.
    private func receive(
        _ server: ServerModel,
        after base: ServerVersion,
        _ write: (inout ChangesetWriter) -> Void
    ) throws {
        var writer = ChangesetWriter()
        write(&writer)
        let cursor = UploadCursor(
            clientVersion: ClientVersion(2),
            lastIntegratedServerVersion: base
        )
        let changeset = UploadChangeset(
            cursor: cursor,
            originTimestamp: OriginTimestamp(1),
            originFileIdent: .none,
            bytes: writer.bytes
        )
        try server.receive(
            UploadBatch(changesets: [changeset], progress: cursor, lockedServerVersion: base),
            from: server.register().ident
        )
    }

    private static let tally = RealmSchema([
        ClassSchema(
            name: "Tally",
            kind: .topLevel(.int),
            properties: [
                PropertySchema(name: "name", type: .string, isNullable: false),
                PropertySchema(name: "n", type: .int, isNullable: false),
                PropertySchema(name: "marks", type: .string, isNullable: false, collection: .set),
                PropertySchema(name: "log", type: .string, isNullable: false, collection: .list),
                PropertySchema(
                    name: "sizes",
                    type: .int,
                    isNullable: false,
                    collection: .dictionary
                ),
            ]
        )
    ])

    private func tallies() throws -> RealmFixture {
        let counter = PropertyName(className: "Tally", property: "n")
        return try RealmFixture(Self.tally, options: [counter: PropertyOptions(isCounter: true)])
    }

    /// A realm with rows that the server has, changed here and then elsewhere before a reset.
    private func discarded(
        _ ours: String,
        theirs: String
    ) throws -> (fixture: RealmFixture, report: ResetReport) {
        let server = ServerModel()
        let (fixture, other) = (try tallies(), try tallies())
        try fixture.connect().execute(
            """
            INSERT INTO Tally(_id, name, n, marks, log, sizes) VALUES
                (1, 'one', 0, '["a"]', '["x"]', '{"s": 1}'), (2, 'two', 0, '[]', '[]', '{}'),
                (3, 'three', 0, '[]', '[]', '{}')
            """
        )
        for realm in [fixture, other] {
            try realm.realm.storeFileIdent(server.register())
            for _ in 0..<2 { try realm.exchange(with: server) }
        }
        try fixture.connect().execute(ours)
        _ = try fixture.realm.drain()
        try other.connect().execute(theirs)
        try other.exchange(with: server)
        return (fixture, try fixture.reset(with: server, .discard))
    }

    @Test(
        "Counters and collections keep the changes of others and get the additions"
    )
    func intentions() throws {
        let (fixture, report) = try discarded(
            """
            UPDATE Tally SET n = n + 1, marks = '["b"]', log = '["x", "ours"]', sizes = '{"s": 1, "m": 2}'
                WHERE _id = 1;
            UPDATE Tally SET n = n + 1 WHERE _id = 1
            """,
            theirs: """
                UPDATE Tally SET n = n + 5, marks = '["a", "c"]', log = '["x", "theirs"]',
                    sizes = '{"s": 7}', name = 'theirs' WHERE _id = 1
                """
        )
        let outcome = try #require(try writeAgain(report.unsynced, into: fixture).first)
        #expect(outcome.action == .update && outcome.conflict == nil)
        #expect(
            try fixture.rows("SELECT n, marks, log, sizes, name FROM Tally WHERE _id = 1") == [
                #"7|["b","c"]|["x","theirs","ours"]|{"m":2,"s":7}|theirs"#
            ]
        )
        // By hand, only the counter can keep the changes of others.
        try fixture.connect().execute(report.unsynced[0].sql)
        #expect(try fixture.rows("SELECT n FROM Tally WHERE _id = 1") == ["9"])
    }

    @Test("Deleted rows are recreated whole, and conflicts are reported")
    func conflicts() throws {
        let (fixture, report) = try discarded(
            """
            UPDATE Tally SET n = n + 1 WHERE _id = 2; UPDATE Tally SET name = 'ours' WHERE _id = 1;
            DELETE FROM Tally WHERE _id = 3; INSERT INTO Tally(_id, name) VALUES (4, 'ours')
            """,
            theirs: """
                DELETE FROM Tally WHERE _id = 2; INSERT INTO Tally(_id, name) VALUES (4, 'theirs')
                """
        )
        // A program writes after the reset.
        try fixture.connect().execute(
            "UPDATE Tally SET name = 'later' WHERE _id = 1; UPDATE Tally SET n = n + 1 WHERE _id = 3"
        )
        let outcomes = try writeAgain(report.unsynced, into: fixture)
        let told = outcomes.map { "\($0.key) \($0.action) \($0.conflict?.rawValue ?? "-")" }
        #expect(
            Set(told) == [
                "1 update changed_since", "2 insert row_gone", "3 delete changed_since",
                "4 update row_exists",
            ]
        )
        #expect(
            try fixture.rows("SELECT _id, name, n FROM Tally ORDER BY _id") == [
                "1|ours|0", "2|two|1", "4|ours|0",
            ]
        )
    }

    @Test("Objects of a class without primary key are changed and deleted again if they exist")
    func withoutKey() throws {
        let server = ServerModel()
        let fixture = try RealmFixture(.wholeModel)
        try fixture.realm.storeFileIdent(server.register())
        try fixture.exchange(with: server)
        try receive(server, after: fixture.realm.status.progress.latestServerVersion.version) {
            for low in 7...8 as ClosedRange<UInt64> {
                let key = ObjectKey.globalKey(GlobalKey(high: 2, low: low))
                let object = ObjectReference(className: "Bare", key: key)
                $0.createObject(object)
                $0.update(object, "text", to: .scalar(.string("theirs")))
            }
        }
        try fixture.exchange(with: server)
        let rows = "SELECT _realm_key, text FROM Bare ORDER BY 1"
        #expect(try fixture.rows(rows) == ["2:7|theirs", "2:8|theirs"])
        try fixture.connect().execute(
            """
            UPDATE Bare SET text = 'mine' WHERE _realm_key = '2:7';
            DELETE FROM Bare WHERE _realm_key = '2:8'
            """
        )
        _ = try fixture.realm.drain()
        let report = try fixture.reset(with: server, .discard)
        #expect(try fixture.rows(rows) == ["2:7|theirs", "2:8|theirs"])
        try writeAgain(report.unsynced, into: fixture)
        #expect(try fixture.rows(rows) == ["2:7|mine"])
    }
}
