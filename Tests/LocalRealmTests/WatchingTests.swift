import Changesets
import LocalRealm
import SQLite
import Schemas
import Testing

@Suite("Noticing what other programs write", .timeLimit(.minutes(10)))
struct WatchingTests {
    let fixture: RealmFixture

    init() throws {
        fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
    }

    /// Nothing but the named way can bring the news within the time limit of the suite.
    static let ways: [CommitWatcher.Options] = [
        .init(pollInterval: .seconds(3600), usesNotifications: true),
        .init(pollInterval: .milliseconds(5), usesNotifications: false),
    ]

    @Test("Each commit is noticed, by notification or by polling alone", arguments: ways)
    func commits(options: CommitWatcher.Options) async throws {
        let captures = try CommitWatcher(path: fixture.path, options).captures()
        var iterator = captures.makeAsyncIterator()
        for number in 1...5 {
            try await Tool.sqlite3(fixture.path, "INSERT INTO Note VALUES (\(number), 'x')")
            _ = await iterator.next()
            #expect(try fixture.drained().first == "CreateObject Note \(number)")
        }
    }

    @Test("What was captured before the watch began is reported at once")
    func beforehand() async throws {
        try await Tool.sqlite3(fixture.path, "INSERT INTO Note VALUES (1, 'x')")
        let captures = try CommitWatcher(path: fixture.path, Self.ways[0]).captures()
        var iterator = captures.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test("The agent's own commits are no news")
    func ownCommits() async throws {
        let path = fixture.path
        let captures = try CommitWatcher(path: path, Self.ways[1]).captures()
        let reader = Task {
            var logWasEmpty: [Bool] = []
            for await _ in captures {
                let count = try Connection(path: path).integer(
                    "SELECT count(*) FROM _realm_capture"
                )
                logWasEmpty.append(count == 0)
                if count == 1 { break }
            }
            return logWasEmpty
        }
        for version in 1...50 {
            try fixture.receive(upTo: UInt64(version))
            await Task.yield()
        }
        try await Tool.sqlite3(path, "INSERT INTO Note VALUES (1, 'x')")
        #expect(try await reader.value == [false])
    }

    @Test("The watch ends with the task that reads it")
    func cancellation() async throws {
        let captures = try CommitWatcher(path: fixture.path).captures()
        let reader = Task {
            for await _ in captures {}
        }
        reader.cancel()
        await reader.value
    }

    @Test("A large log is checkpointed, and emptied when it is very large")
    func checkpoints() throws {
        let connection = try fixture.connect()
        try connection.execute("PRAGMA wal_autocheckpoint = 0; CREATE TABLE own(v BLOB)")
        let checkpointer = try Checkpointer(path: fixture.path)
        try checkpointer.run()
        #expect(checkpointer.logSizeInBytes > 0)

        try connection.execute("INSERT INTO own VALUES (zeroblob(5000000))")
        #expect(checkpointer.logSizeInBytes > Checkpointer.passiveThresholdInBytes)
        try checkpointer.run()
        let size = checkpointer.logSizeInBytes
        // All of it is copied, so the next writer starts from the front again.
        try connection.execute("INSERT INTO own VALUES (zeroblob(10))")
        #expect(checkpointer.logSizeInBytes == size)

        try connection.execute("INSERT INTO own VALUES (zeroblob(70000000))")
        #expect(checkpointer.logSizeInBytes > Checkpointer.truncateThresholdInBytes)
        try checkpointer.run()
        #expect(checkpointer.logSizeInBytes == 0)
    }
}
