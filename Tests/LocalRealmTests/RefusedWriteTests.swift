import Changesets
import LocalRealm
import SQLite
import TestSupport
import Testing
import Versions

@Suite("Writes that the server rejected")
struct RefusedWriteTests {
    private func write(_ number: Int64, at version: UInt64 = 7) -> ServerRejection {
        ServerRejection(
            className: "Note",
            key: .int(number),
            reason: "no",
            errorCode: 231,
            version: ServerVersion(version)
        )
    }

    @Test("They are kept with the original row, and can be read beside the agent")
    func kept() throws {
        let fixture = try RealmFixture(.notes)
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'mine')")
        let row = try fixture.realm.row(of: "Note", key: .int(1))
        #expect(row == #"{"_id":1,"text":"mine"}"#)
        #expect(try fixture.realm.row(of: "Note", key: .int(2)) == nil)
        #expect(try fixture.realm.row(of: "None", key: .int(1)) == nil)
        try fixture.realm.keep([write(1), write(2)])
        let rejects = try RejectedWrite.read(path: fixture.path, limit: 10)
        #expect(rejects.count == 2)
        #expect(try rejects == fixture.realm.rejectedWrites(limit: 10))
        #expect(rejects.allSatisfy { $0.at == RealmFixture.instant && $0.reason == "no" })
        let rows = rejects.map { reject -> String? in
            guard case .server(231, ServerVersion(7), let row) = reject.origin else { return "" }
            return row
        }
        #expect(Set(rows) == [row, nil])
    }

    @Test("One that the server reports again is kept once, with its first row")
    func reportedAgain() throws {
        let fixture = try RealmFixture(.notes)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (1, 'mine')")
        try fixture.realm.keep([write(1)])
        try program.execute("UPDATE Note SET text = 'theirs'")
        try fixture.realm.keep([write(1)])
        try fixture.realm.keep([write(1, at: 8)])
        #expect(
            try fixture.rows("SELECT server_version, row_before FROM _realm_reject ORDER BY id")
                == [#"7|{"_id":1,"text":"mine"}"#, #"8|{"_id":1,"text":"theirs"}"#]
        )
        #expect(try fixture.realm.rejectedWrites().map(\.id) == [2, 1])
    }

    @Test("The newest thousand are kept")
    func newest() throws {
        let fixture = try RealmFixture(.notes)
        for start in stride(from: Int64(0), to: 1_200, by: 400) {
            try fixture.realm.keep((start..<start + 400).map { write($0) })
        }
        let rejects = try RejectedWrite.read(path: fixture.path, limit: 1_000)
        #expect(rejects.count == 1_000)
        #expect(
            try fixture.connect().integer("SELECT min(CAST(key AS INTEGER)) FROM _realm_reject")
                == 200
        )
    }
}
