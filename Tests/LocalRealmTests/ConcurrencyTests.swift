import Changesets
import LocalRealm
import SQLite
import Schemas
import Synchronization
import Testing
import Versions

@Suite("Programs that write while downloads are applied", .timeLimit(.minutes(10)))
struct ConcurrencyTests {
    static let rowsOfEach: Int64 = 120

    /// The logs that are drained in two steps: every one, or none as short as these.
    @Test(
        "Every write of two clients arrives, and neither sees more than the usual busy wait",
        arguments: [1...100_000, 1_000...100_000]
    )
    func twoClients(preparedRows: ClosedRange<Int>) async throws {
        let fixture = try RealmFixture(.notes) { $0.preparedRows = preparedRows }
        _ = try fixture.realm.drain()
        let path = fixture.path
        let isFinished = Flag()
        let writers = Task {
            defer { isFinished.set() }
            async let tool = Self.writeWithTool(path)
            async let python = Self.writeWithPython(path)
            _ = try await (tool, python)
        }

        var version: UInt64 = 0
        while !isFinished.isSet {
            version += 1
            let changeset = RealmFixture.download(version) { writer in
                for number in 0..<20 {
                    let note = ObjectReference("Note", Int64(version) * 100 + Int64(number))
                    writer.createObject(note)
                    writer.update(note, "text", to: .scalar(.string("server")))
                }
            }
            try fixture.receive(upTo: version, [changeset])
            await Task.yield()
        }
        try await writers.value
        _ = try fixture.realm.drain()

        #expect(
            try fixture.rows("SELECT text, count(*) FROM Note GROUP BY text ORDER BY text") == [
                "python|\(Self.rowsOfEach)", "server|\(version * 20)", "tool|\(Self.rowsOfEach)",
            ]
        )
        // Of the programs' writes, and of nothing else, the history has every object once.
        let created = try fixture.history().flatMap(\.lines).filter {
            $0.hasPrefix("CreateObject")
        }
        #expect(created.count == Int(2 * Self.rowsOfEach))
        #expect(Set(created).count == created.count)
    }

    private static func writeWithTool(_ path: String) async throws {
        let statements = (0..<rowsOfEach).map { number in
            """
            BEGIN IMMEDIATE; INSERT INTO Note VALUES (\(1_000_000 + number), 'new');
            UPDATE Note SET text = 'tool' WHERE _id = \(1_000_000 + number); COMMIT;
            """
        }
        try await Tool.sqlite3(path, statements.joined(separator: "\n"))
    }

    private static func writeWithPython(_ path: String) async throws {
        try await Tool.python(
            path,
            """
            for number in range(\(rowsOfEach)):
                connection.execute("INSERT INTO Note VALUES (?, 'python')", (2_000_000 + number,))
            """
        )
    }
}

private final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() {
        value.store(true, ordering: .releasing)
    }
}
