import Changesets
import Documents
import FoundationEssentials
import SQLite
import Schemas
import TestSupport
import Testing

@Suite("The audit of the simulated programs' writes")
struct LedgerAuditTests {
    private static let schema = RealmSchema([
        ClassSchema(
            name: "Entry",
            kind: .topLevel(.init(name: "_id", type: .string, isNullable: false)),
            properties: [
                PropertySchema(name: "writer", type: .int, isNullable: false),
                PropertySchema(name: "note", type: .string, isNullable: true),
            ]
        )
    ])

    /// A ledger of one program that only creates and changes entries, beside its database.
    private func ledger(on connection: Connection) throws -> Ledger {
        try connection.execute(
            """
            CREATE TABLE Entry(_id TEXT PRIMARY KEY, writer INTEGER, note TEXT);
            CREATE TABLE Tally(_id INTEGER PRIMARY KEY, sum INTEGER DEFAULT 0, text TEXT,
              marks TEXT DEFAULT '[]', tags TEXT DEFAULT '[]', last TEXT);
            """
        )
        var random = SplitMix64(seed: 3)
        var ledger = Ledger()
        for _ in 0..<30 {
            _ = try ledger.write(0, on: connection, countsUp: false, using: &random)
        }
        return ledger
    }

    private func realm(_ connection: Connection) throws -> InMemoryRealm {
        var realm = InMemoryRealm(schema: Self.schema)
        for (key, note) in try Ledger.entries(on: connection) {
            realm.setDocument(
                Document(values: [
                    .scalar(.int(0)), .scalar(note.map { .string(.init($0)) } ?? .null),
                ]),
                for: .init(className: "Entry", key: .string(.init(key)))
            )
        }
        return realm
    }

    private func losses(
        _ ledger: Ledger,
        _ connection: Connection,
        in directory: String
    ) throws -> [String] {
        LedgerAudit(try realm(connection)).losses(
            in: ledger,
            exports: [try ResetExports(in: directory)]
        )
    }

    @Test("finds a lost, reappeared or changed entry, unless an export has it")
    func losses() throws {
        let directory = try TemporaryDirectory()
        let connection = try Connection(path: ":memory:")
        let ledger = try ledger(on: connection)
        let living = ledger.entries.filter { $0.value.latest != nil }.keys.sorted()
        let dead = ledger.entries.filter { $0.value.latest == nil }.keys.sorted()
        let (first, second) = (try #require(living.first), try #require(living.last))
        let third = try #require(dead.first)
        #expect(try losses(ledger, connection, in: directory.path) == [])

        try connection.run("DELETE FROM Entry WHERE _id = ?1", [.text(first)])
        try connection.run("UPDATE Entry SET note = 'x' WHERE _id = ?1", [.text(second)])
        try connection.run("INSERT INTO Entry VALUES (?1, 0, 'y')", [.text(third)])
        try connection.execute("INSERT INTO Entry VALUES ('unheard-of', 0, 'z')")
        #expect(try losses(ledger, connection, in: directory.path).count == 4)

        let note = try #require(ledger.entries[first]?.latest)
        let line = """
            {"class":"Entry","key":"'\(first)'","isDeleted":false,"sql":"","properties":[],\
            "object":{"note":"\(note)"}}
            """
        try Data(line.utf8).write(to: URL(filePath: directory.file("stock-1.jsonl")))
        #expect(try losses(ledger, connection, in: directory.path).count == 3)
    }

    @Test("finds a lost mark or tag, unless an export has it or it was taken back")
    func elements() throws {
        let directory = try TemporaryDirectory()
        let connection = try Connection(path: ":memory:")
        var ledger = try ledger(on: connection)
        ledger.remember(0)
        try connection.execute("INSERT INTO Tally(_id) VALUES (1), (2)")
        var random = SplitMix64(seed: 9)
        while ledger.marks.isEmpty || ledger.tags.isEmpty {
            _ = try ledger.write(0, on: connection, countsUp: false, using: &random)
        }
        // The audit's own realm has no class for them, so all are lost.
        let count = ledger.marks.count + ledger.tags.count
        #expect(try losses(ledger, connection, in: directory.path).count == count)

        let mark = try #require(ledger.marks.first)
        let line = """
            {"class":"Tally","key":"\(mark.tally)","isDeleted":false,"sql":"","properties":[],\
            "object":{"marks":["\(mark.text)"],"tags":[]}}
            """
        try Data(line.utf8).write(to: URL(filePath: directory.file("stock-1.jsonl")))
        #expect(try losses(ledger, connection, in: directory.path).count == count - 1)
        ledger.takeBackWrites(of: 0)
        #expect(try losses(ledger, connection, in: directory.path) == [])
    }

    @Test("finds sums, marks and tags that differ")
    func faults() throws {
        let connection = try Connection(path: ":memory:")
        let ledger = try ledger(on: connection)
        try connection.execute("INSERT INTO Tally(_id) VALUES (1), (2)")
        var other = ledger
        var random = SplitMix64(seed: 9)
        while other.marks == ledger.marks || other.tags == ledger.tags || other.sum == ledger.sum {
            _ = try other.write(0, on: connection, countsUp: true, using: &random)
        }
        let faults = LedgerAudit(InMemoryRealm(schema: Self.schema)).faults(in: other)
        for word in ["sum", "marks", "tags", "lost"] {
            #expect(faults.contains { $0.contains(word) }, "\(word)")
        }
    }
}
