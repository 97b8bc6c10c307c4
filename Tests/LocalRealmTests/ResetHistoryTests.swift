import Changesets
import ClientReset
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// Client reset, 4 and 6.
@Suite("The local history after a client reset")
struct ResetHistoryTests {
    private static let lists = RealmSchema([
        ClassSchema(
            name: "Note",
            kind: .topLevel(.int),
            properties: [
                PropertySchema(name: "text", type: .string, isNullable: true),
                PropertySchema(
                    name: "tags",
                    type: .string,
                    isNullable: false,
                    collection: .list
                ),
            ]
        )
    ])

    private func client(_ server: ServerModel, _ schema: RealmSchema? = lists) throws
        -> RealmFixture
    {
        let fixture = try RealmFixture(schema)
        try fixture.realm.storeFileIdent(server.register())
        try fixture.exchange(with: server)
        return fixture
    }

    @Test("Downloads since then count: recovery begins with the merged changesets")
    func reciprocals() throws {
        let server = ServerModel()
        let mine = try client(server)
        try mine.connect().execute(
            #"INSERT INTO Note(_id, tags) VALUES (1, '["a","b"]'), (2, '[]')"#
        )
        try mine.exchange(with: server)
        let other = try client(server)
        try mine.connect().execute(
            "UPDATE Note SET tags = json_insert(tags, '$[#]', 'x') WHERE _id = 1"
        )
        _ = try mine.realm.drain()
        try mine.connect().execute("UPDATE Note SET text = 'too late' WHERE _id = 2")
        _ = try mine.realm.drain()
        try other.connect().execute(
            #"UPDATE Note SET tags = '["y","a","b"]' WHERE _id = 1; DELETE FROM Note WHERE _id = 2"#
        )
        try other.exchange(with: server)
        // It arrives, but local writes are no longer uploaded.
        try mine.download(from: server)
        let rows = "SELECT _id, tags FROM Note"
        #expect(try mine.rows(rows) == [#"1|["y","a","b","x"]"#])
        let rewritten = "SELECT count(*), min(length(reciprocal)) FROM _realm_history "
        #expect(try mine.rows(rewritten + "WHERE reciprocal IS NOT NULL") == ["2|0"])
        let versions = "SELECT version FROM _realm_history WHERE origin_file_ident = 0 AND size > 0"
        let before = try mine.rows(versions + " ORDER BY version")

        let report = try mine.reset(with: server, .recover)
        // As inserted at 3, not at its earlier index 2: the recovered index is the merged one.
        #expect(try mine.rows(rows) == [#"1|["y","a","b","x"]"#])
        #expect(report.discarded == [], "the merge has discarded it before")
        #expect(report.recoveredChangesetCount == 1)
        #expect(try mine.rows(rewritten + "WHERE reciprocal IS NOT NULL") == ["0|null"])
        // The versions are unchanged, and all are merged with the fresh copy's state.
        let left = try mine.rows(versions + " ORDER BY version")
        #expect(left.count == 1)
        #expect(Set(left).isSubset(of: before))
        let fresh = mine.realm.status.progress.download.serverVersion.rawValue
        #expect(
            try mine.rows("SELECT DISTINCT remote_version FROM _realm_history") == ["\(fresh)"]
        )
        try mine.exchange(with: server)
        try other.exchange(with: server)
        #expect(try other.rows(rows) == [#"1|["y","a","b","x"]"#])
    }

    @Test("A realm without local writes adopts the server's state")
    func neverWritten() throws {
        let server = ServerModel()
        let other = try client(server)
        try other.connect().execute("INSERT INTO Note(_id, text) VALUES (1, 'one')")
        try other.exchange(with: server)
        for method in [ResetMethod.recover, .discard] {
            let fixture = try client(server, nil)
            let report = try fixture.reset(with: server, method)
            #expect(report.unsynced == [])
            let text = method == .recover ? "one" : "one!"
            #expect(try fixture.rows("SELECT _id, text FROM Note") == ["1|\(text)"])
            try fixture.connect().execute("UPDATE Note SET text = text || '!'")
            try fixture.exchange(with: server)
        }
        try other.exchange(with: server)
        #expect(try other.rows("SELECT text FROM Note") == ["one!!"])
    }

    @Test("A class that only the realm has is recovered with its objects, and blocks discarding")
    func localAdditions() throws {
        let server = ServerModel()
        let fixture = try client(server)
        let more = RealmSchema(
            Self.lists.classes + [ClassSchema(name: "Label", kind: .topLevel(.string))]
        )
        try fixture.reopen(more)
        try fixture.connect().execute("INSERT INTO Label VALUES ('red')")
        _ = try fixture.realm.drain()
        #expect(throws: ResetFailure.classesRemoved(["Label"])) {
            try fixture.reset(with: server, .discard)
        }
        #expect(try fixture.rows("SELECT * FROM Label") == ["red"])
        #expect(try fixture.reset(with: server, .recover).didRecover)
        try fixture.exchange(with: server)
        let other = try client(server, nil)
        #expect(try other.rows("SELECT * FROM Label") == ["red"])
    }
}
