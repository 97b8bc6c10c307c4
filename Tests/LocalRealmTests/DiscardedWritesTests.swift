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

/// Client reset, 3: what a reset throws away can be read and written again.
@Suite("Writes that a reset has discarded")
struct DiscardedWritesTests {
    /// Writes the objects again as `realm-agent ingest --recovered` does, from lines with their parts.
    private func writeAgain(_ objects: [UnsyncedObject], into fixture: RealmFixture) throws {
        struct Line: Encodable {
            let `class`: String
            let sql: String
        }
        let lines = try objects.enumerated().map { index, object in
            let line = Line(class: object.className.description, sql: object.sql)
            return Ingest.Line(number: index + 1, bytes: Array(try JSONEncoder().encode(line)))
        }
        let ingest = try Ingest(into: fixture.path, .recovered)
        defer { ingest.close() }
        try ingest.write(lines, isRehearsal: false)
    }

    @Test("Written again, they leave the realm as it was before the reset")
    func random() throws {
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
                try writeAgain(report.unsynced, into: fixture)
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

    @Test("Objects of an asymmetric class are in no table any more, and yet kept whole")
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

    @Test("Objects of a class without primary key are changed and deleted again where they are")
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
