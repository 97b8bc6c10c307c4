import Changesets
import Digests
import LocalRealm
import SQLite
import TestSupport
import Testing
import Versions

@Suite("A state of a realm, held for a comparison")
struct HeldRealmTests {
    private func hold(_ fixture: RealmFixture) async throws -> HeldRealm {
        try await HeldRealm.open(
            path: fixture.path,
            on: DatabaseThreads(limit: 1).executor()
        )
    }

    private func digest(_ fixture: RealmFixture) async throws -> ClassDigest {
        let held = try await hold(fixture)
        let digest = try await held.digest(of: "Note") { _ in }
        await held.close()
        return digest
    }

    @Test("It does not change while programs write, and an object can be taken out of a digest")
    func held() async throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'one'), (2, 'two'), (3, 'three')")
        let held = try await hold(fixture)
        let before = try await held.digest(of: "Note") { _ in }
        try program.execute("UPDATE Note SET text = 'changed' WHERE _id = 2")
        #expect(try await held.digest(of: "Note") { _ in } == before)
        let objects = [
            ObjectReference(className: "Note", key: .int(2)),
            ObjectReference(className: "Note", key: .int(99)),
            ObjectReference(className: "None", key: .int(2)),
        ]
        let without = try await held.remove(objects, from: ["Note": before])["Note"]
        await held.close()
        try program.execute("DELETE FROM Note WHERE _id = 2")
        #expect(try await digest(fixture) == without)
        #expect(before.count == 3)
        #expect(without?.count == 2)
    }

    @Test("Writes that are not acknowledged are pending")
    func pending() async throws {
        let fixture = try RealmFixture(.notes)
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'one')")
        let uncaptured = try await hold(fixture)
        #expect(uncaptured.state.hasPendingChanges)
        await uncaptured.close()
        _ = try fixture.realm.drain()
        let captured = try await hold(fixture)
        #expect(captured.state.hasPendingChanges)
        #expect(captured.state.classes == ["Note"])
        #expect(captured.state.properties["Note"] == ["text"])
        await captured.close()
    }
}

@Suite("Rejected writes, written again")
struct RejectedWriteRetryTests {
    private func reject(_ fixture: RealmFixture, _ number: Int64) throws {
        try fixture.realm.keep([
            ServerRejection(
                className: "Note",
                key: .int(number),
                reason: "no",
                errorCode: 231,
                version: .init(UInt64(number))
            )
        ])
    }

    @Test("An object is as it was, whether or not it exists now")
    func retry() throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'mine'), (2, 'also')")
        try reject(fixture, 1)
        try reject(fixture, 2)
        try reject(fixture, 3)
        try program.execute("UPDATE Note SET text = 'theirs' WHERE _id = 1")
        try program.execute("DELETE FROM Note WHERE _id = 2")
        try program.execute("INSERT INTO Note VALUES (3, 'back')")
        #expect(try RejectedWriteRetry(1, in: fixture.path).run() == .written(className: "Note"))
        #expect(try RejectedWriteRetry(2, in: fixture.path).run() == .written(className: "Note"))
        // This one had been deleted here.
        #expect(try RejectedWriteRetry(3, in: fixture.path).run() == .deleted(className: "Note"))
        #expect(try RejectedWriteRetry(4, in: fixture.path).run() == .unknown)
        #expect(
            try fixture.rows("SELECT _id, text FROM Note ORDER BY _id") == ["1|mine", "2|also"]
        )
        // Captured like the write of any program.
        #expect(try fixture.realm.drain().changesetCount > 0)
    }

    @Test("A kept row that does not fit any more is refused, and changes nothing")
    func refused() throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'mine')")
        try reject(fixture, 1)
        for row in ["{", #"{"_id":1,"text":5}"#, "null", #"{"_id":1,"text":null}"#] {
            try program.execute("UPDATE _realm_reject SET row_before = '\(row)'")
            guard case .refused = try RejectedWriteRetry(1, in: fixture.path).run() else {
                Issue.record("\(row) was written")
                continue
            }
        }
        #expect(try fixture.rows("SELECT text FROM Note") == ["mine"])
    }
}
