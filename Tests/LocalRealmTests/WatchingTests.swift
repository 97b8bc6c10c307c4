import Changesets
import FaultInjection
import FoundationEssentials
import LocalRealm
import SQLite
import Schemas
import Synchronization
import TestSupport
import Testing

@Suite("Noticing the writes of other programs", .timeLimit(.minutes(10)))
struct WatchingTests {
    let fixture: RealmFixture

    init() throws {
        fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
    }

    /// Only the given notification or poll can report within the time limit of the suite.
    static let ways: [CommitWatcher.Options] = [
        .init(pollInterval: .seconds(3600), usesNotifications: true),
        .init(pollInterval: .milliseconds(5), usesNotifications: false),
    ]

    @Test("Each commit is noticed, by notification or by polling alone", arguments: ways)
    func commits(options: CommitWatcher.Options) async throws {
        let captures = try CommitWatcher(path: fixture.path, options).captures()
        var iterator = captures.makeAsyncIterator()
        for number in 1...5 {
            try await Tool.insertNote(number, into: fixture.path)
            _ = await iterator.next()
            #expect(try fixture.drained().first == "CreateObject Note \(number)")
        }
    }

    @Test("Writes captured before the watch began are reported at once")
    func beforehand() async throws {
        try await Tool.insertNote(1, into: fixture.path)
        let captures = try CommitWatcher(path: fixture.path, Self.ways[0]).captures()
        var iterator = captures.makeAsyncIterator()
        #expect(await iterator.next() != nil)
    }

    @Test("The agent's own commits are not reported")
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
        try await Tool.insertNote(1, into: path)
        #expect(try await reader.value == [false])
    }

    @Test("A commit during a write of the agent is noticed")
    func commitsBesideOwn() async throws {
        let captures = try CommitWatcher(
            path: fixture.path,
            Self.ways[0],
            beside: fixture.realm.ownWrites
        ).captures()
        var iterator = captures.makeAsyncIterator()
        let path = fixture.path
        for number in 1...20 {
            let program = Task.detached {
                _ = try await Tool.insertNote(number, into: path)
            }
            // One transaction of the agent after the other, until the program's comes in between.
            var isDrained = false
            while try !isDrained && fixture.captured().isEmpty {
                let object = Int64(1_000 * number)
                isDrained =
                    try fixture.receive { writer in
                        for key in object..<object + 300 {
                            writer.createObject(.init("Note", key))
                        }
                    }.drained.changesetCount > 0
            }
            try await program.value
            if !isDrained {
                _ = await iterator.next()
                _ = try fixture.realm.drain()
            }
        }
    }

    @Test("While the agent holds the write lock nothing is reported, and afterwards it is")
    func heldBack() async throws {
        // As if the lock were held: the program could not commit otherwise.
        let ownWrites = OwnWrites()
        let captures = try CommitWatcher(
            path: fixture.path,
            Self.ways[0],
            beside: ownWrites
        ).captures()
        for number in 1...5 {
            ownWrites.begin()
            try await Tool.insertNote(number, into: fixture.path)
            let reader = Task {
                for await _ in captures { return true }
                return false
            }
            ownWrites.end()
            #expect(await reader.value)
            #expect(try fixture.drained().first == "CreateObject Note \(number)")
        }
    }

    @Test("In a rollback-journal mode, commits are noticed in the database file")
    func rollbackJournal() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("own.sqlite")
        let program = try Connection(path: path)
        try program.execute(
            "PRAGMA journal_mode = DELETE; CREATE TABLE _realm_capture(seq INTEGER PRIMARY KEY)"
        )
        let captures = try CommitWatcher(path: path, Self.ways[0]).captures()
        var iterator = captures.makeAsyncIterator()
        for _ in 1...3 {
            try program.execute("INSERT INTO _realm_capture DEFAULT VALUES")
            #expect(await iterator.next() != nil)
            try program.execute("DELETE FROM _realm_capture")
        }
    }

    /// It keeps no connection for longer than it must.
    private static let forgetful = CommitWatcher.Options(
        pollInterval: .milliseconds(5),
        usesNotifications: false,
        doubt: .milliseconds(50)
    )

    /// Descriptors of this process for the realm's write-ahead log.
    private func descriptors() throws -> Int {
        let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        return names.count { name in
            let file = try? FileManager.default.destinationOfSymbolicLink(
                atPath: "/proc/self/fd/\(name)"
            )
            return file?.hasSuffix(fixture.path + "-wal") == true
        }
    }

    @Test("While a realm is silent its watch has no file open, and notices the next commit")
    func silence() async throws {
        let alone = try descriptors()
        let captures = try CommitWatcher(path: fixture.path, Self.forgetful).captures()
        var iterator = captures.makeAsyncIterator()
        for number in 1...5 {
            try await until { try descriptors() == alone }
            try await Tool.insertNote(number, into: fixture.path)
            _ = await iterator.next()
            #expect(try fixture.drained().first == "CreateObject Note \(number)")
        }
    }

    @Test("While a program may be about to commit what it has written, the watch asks the database")
    func slowCommit() async throws {
        let program = try fixture.connect()
        #expect(try program.integer("SELECT count(*) FROM Note") == 0)
        let alone = try descriptors()
        let captures = try CommitWatcher(path: fixture.path, Self.forgetful).captures()
        var iterator = captures.makeAsyncIterator()
        try await until { try descriptors() == alone }
        try program.execute("BEGIN IMMEDIATE; CREATE TABLE own(v BLOB); PRAGMA cache_size = 1")
        try program.execute("INSERT INTO own VALUES (zeroblob(100000))")
        try program.execute("INSERT INTO Note VALUES (1, 'x')")
        try await until { try descriptors() > alone }
        // Longer than the doubt that a write causes.
        try await Task.sleep(for: .milliseconds(200))
        #expect(try descriptors() > alone)
        try program.execute("COMMIT")
        _ = await iterator.next()
        #expect(try fixture.drained().first == "CreateObject Note 1")
        try await until { try descriptors() == alone }
    }

    @Test("If a silent realm cannot be opened again, a sign of a write is reported all the same")
    func unreadable() async throws {
        let alone = try descriptors()
        let captures = try CommitWatcher(path: fixture.path, Self.forgetful).captures()
        var iterator = captures.makeAsyncIterator()
        try await until { try descriptors() == alone }
        try FileManager.default.moveItem(atPath: fixture.path, toPath: fixture.path + ".away")
        #expect(await iterator.next() != nil)
    }

    @Test("Very many realms share one instance of inotify, and each notices its own commits")
    func manyRealms() async throws {
        let directory = try TemporaryDirectory()
        let paths = (0..<200).map { directory.file("\($0).sqlite") }
        for path in paths {
            let connection = try Connection(path: path)
            try connection.execute(
                """
                PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF;
                CREATE TABLE _realm_capture(seq INTEGER PRIMARY KEY)
                """
            )
        }
        let watches = try paths.map { try CommitWatcher(path: $0, Self.ways[0]).captures() }
        let descriptors = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
        let instances = descriptors.count { descriptor in
            let link = "/proc/self/fd/\(descriptor)"
            return (try? FileManager.default.destinationOfSymbolicLink(atPath: link))?
                .contains("inotify") == true
        }
        #expect(instances <= 1)
        for (path, captures) in zip(paths, watches) {
            try Connection(path: path).execute("INSERT INTO _realm_capture DEFAULT VALUES")
            var iterator = captures.makeAsyncIterator()
            #expect(await iterator.next() != nil)
        }
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

    @Test("While a very large log is copied to a slow disk, other programs write")
    func slowCheckpoint() async throws {
        let connection = try fixture.connect()
        try connection.execute(
            """
            PRAGMA wal_autocheckpoint = 0; CREATE TABLE own(v BLOB);
            INSERT INTO own VALUES (zeroblob(70000000))
            """
        )
        let files = FaultyFiles()
        let path = fixture.path
        let isDone = Atomic(false)
        let isBegun = Atomic(false)
        async let result: Void = DatabaseExecutor(label: "checkpoint").perform {
            do {
                let checkpointer = try Checkpointer(path: path, vfs: files.name)
                files.slowDown(by: .microseconds(100))
                isBegun.store(true, ordering: .relaxed)
                try checkpointer.run()
            } catch {
                Issue.record(error)
            }
            isDone.store(true, ordering: .relaxed)
        }
        try await until { isBegun.load(ordering: .relaxed) }
        let program = try Connection(path: path, .init(busyTimeout: .zero))
        try program.execute("PRAGMA wal_autocheckpoint = 0")
        var (written, refused) = (0, 0)
        while !isDone.load(ordering: .relaxed) {
            do {
                try program.execute("INSERT INTO own VALUES (zeroblob(10))")
                written += 1
            } catch {
                refused += 1
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        await result
        // Only emptying the log, and what was written meanwhile, keeps them out.
        #expect(written > refused, "\(written) written, \(refused) refused")
    }
}
