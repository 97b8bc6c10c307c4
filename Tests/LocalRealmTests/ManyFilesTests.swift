import FoundationEssentials
import TestSupport
import Testing

@testable import LocalRealm

@Suite("Files and watches while many are open", .timeLimit(.minutes(10)))
struct ManyFilesTests {
    let fixture: RealmFixture
    private let tickets = (0...64).map { _ in OpenConnections.Ticket() }

    init() throws {
        fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
    }

    /// Only notifications, and the look that follows the beginning, can report.
    private static let notified = CommitWatcher.Options(pollInterval: .seconds(3600))

    private func watch(_ options: CommitWatcher.Options = notified) throws -> AsyncStream<Void> {
        try CommitWatcher(path: fixture.path, options).captures()
    }

    @Test("A watch begins without a connection, and notices each write")
    func writes() async throws {
        #expect(OpenConnections.areMany)
        fixture.realm.rest.takeAmongMany()
        #expect(fixture.openFiles == ["\(fixture.path).lock"])
        let captures = try watch()
        #expect(fixture.openFiles == ["\(fixture.path).lock"])
        var iterator = captures.makeAsyncIterator()
        for number in 1...5 {
            try await Tool.insertNote(number, into: fixture.path)
            _ = await iterator.next()
            #expect(try fixture.drained().first == "CreateObject Note \(number)")
            fixture.realm.rest.takeAmongMany()
        }
    }

    @Test("Its first look finds what was written before, and then it closes")
    func beforehand() async throws {
        try await Tool.insertNote(1, into: fixture.path)
        let captures = try watch()
        var iterator = captures.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        #expect(try fixture.drained().first == "CreateObject Note 1")
        fixture.realm.rest.takeAmongMany()
        try await until { fixture.openFiles == ["\(fixture.path).lock"] }
    }

    @Test(
        "A file that is replaced or removed while the watch has no connection is noticed",
        arguments: [true, false]
    )
    func replaced(isRemoved: Bool) async throws {
        let captures = try watch(.init(pollInterval: .milliseconds(50)))
        fixture.realm.rest.takeAmongMany()
        // After the first look.
        try await until { !fixture.openFiles.contains(fixture.path) }
        if isRemoved {
            try FileManager.default.removeItem(atPath: fixture.path)
        } else {
            let copy = try Data(contentsOf: URL(filePath: fixture.path))
            try copy.write(to: URL(filePath: fixture.path), options: .atomic)
        }
        var iterator = captures.makeAsyncIterator()
        #expect(await iterator.next() != nil)
        let error = #expect(throws: LocalRealmError.self) { try fixture.realm.drain() }
        #expect(error?.kind == .replaced)
    }
}
