import LocalRealm
import SQLite
import TestSupport
import Testing

@Suite("Unsynced changes as JSON lines")
struct UnsyncedExportTests {
    private func text(_ fixture: RealmFixture) throws -> String {
        String(decoding: try UnsyncedExport.lines(path: fixture.path).joined(), as: UTF8.self)
    }

    @Test("Each change is a line, with the values as the server would get them")
    func lines() throws {
        let fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        let before = try UnsyncedExport.lines(path: fixture.path).count
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note(_id, text) VALUES (7, 'a \"b\" ü')")
        _ = try fixture.realm.drain()
        let lines = try text(fixture).split(separator: "\n").dropFirst(before)
        #expect(lines.count == 2)
        #expect(lines.first?.contains(#""change":"create","class":"Note","key":7}"#) == true)
        #expect(
            lines.last?.contains(
                #""change":"set","class":"Note","key":7,"property":"text","value":"a \"b\" ü"}"#
            ) == true
        )
        #expect(lines.allSatisfy { $0.contains(#","at":{"$date":"20"#) })
    }

    @Test("A file that is not a realm is refused")
    func noRealm() throws {
        let fixture = try RealmFixture(.notes)
        let path = fixture.directory.file("other.sqlite")
        let other = try Connection(path: path)
        try other.execute("CREATE TABLE t(x)")
        let error = #expect(throws: LocalRealmError.self) { try UnsyncedExport.lines(path: path) }
        #expect(error?.kind == .notARealm)
    }
}
