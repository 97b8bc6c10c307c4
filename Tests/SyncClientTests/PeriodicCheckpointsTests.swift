import Coordination
import FoundationEssentials
import Logging
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import SyncClient

@Suite("Checkpoints of a realm", .timeLimit(.minutes(10)))
struct PeriodicCheckpointsTests {
    private let clock = SteppedClock()
    private let activity = Signal()
    private let directory: TemporaryDirectory
    private let path: String

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("test.sqlite")
        let connection = try Connection(path: path)
        try connection.execute("PRAGMA journal_mode = WAL; CREATE TABLE own(v)")
    }

    /// Runs the checkpoints beside the body, which gets the number of looks so far.
    private func withCheckpoints(_ body: (() -> Int) async throws -> Void) async throws {
        let looks = Atomic(0)
        var environment = RealmEnvironment.process
        let executor = environment.executor
        environment.executor = { label in
            let executor = executor(label)
            return DatabaseExecutor { work in
                looks.add(1, ordering: .relaxed)
                Task { await executor.perform(work) }
            }
        }
        let checkpoints = PeriodicCheckpoints(
            path: path,
            environment: environment,
            label: "test",
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            activity: activity
        )
        try await withThrowingTaskGroup { group in
            let duties = Duties([checkpoints.duty], clock.syncTime)
            group.addTask { await duties.carryOut() }
            try await body { looks.load(ordering: .relaxed) }
            group.cancelAll()
        }
    }

    private var logSizeInBytes: Int {
        let size = try? FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int
        return (size ?? nil) ?? 0
    }

    /// The pauses between looks, and the longest wait for something to do.
    private static let pause = Duration.seconds(4)...(.seconds(6))
    private static let silence = Duration.seconds(59)...(.seconds(61))

    @Test("While nothing happens there is a look once in a minute")
    func noActivity() async throws {
        try await withCheckpoints { looks in
            try await clock.pass(Self.pause)
            for look in 1...3 {
                try await until { looks() == look }
                try await clock.pass(Self.silence)
            }
            try await until { looks() == 4 }
        }
    }

    @Test("Work on the file is followed by a look, and by others while more is to do")
    func activityFollows() async throws {
        let program = try Connection(path: path)
        try program.execute("PRAGMA wal_autocheckpoint = 0")
        try await withCheckpoints { looks in
            try await clock.pass(Self.pause)
            try await clock.sleeper(Self.silence)
            // A reader keeps the log from being copied.
            let reader = try Connection(path: path)
            try reader.execute("BEGIN; SELECT * FROM own")
            try program.execute("INSERT INTO own VALUES (zeroblob(70000000))")
            activity.raise()
            for look in 2...4 {
                try await clock.pass(Self.pause)
                try await until { looks() == look }
            }
            #expect(logSizeInBytes > 70_000_000)
            try reader.execute("COMMIT")
            try await until {
                clock.advance(by: .seconds(5))
                return logSizeInBytes == 0
            }
        }
    }
}
