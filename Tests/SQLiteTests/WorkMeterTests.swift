import FaultInjection
import Glibc
import SQLite
import Synchronization
import TestSupport
import Testing

@Suite("Steps of work on a database", .timeLimit(.minutes(5)))
struct WorkMeterTests {
    @Test("A commit on a slow disk makes steps while it writes, though SQLite executes nothing")
    func slowCommit() async throws {
        let temporary = try TemporaryDirectory()
        let files = FaultyFiles()
        let meter = WorkMeter()
        let executor = DatabaseExecutor(label: "slow")
        let path = temporary.file("slow.sqlite")
        #expect(!meter.reading.isAtWork)
        let isCommitting = Atomic(false)
        async let result: Void = executor.perform {
            do {
                let connection = try Connection(path: path, .init(vfs: files.name))
                try connection.execute(
                    """
                    PRAGMA journal_mode = WAL; PRAGMA cache_size = -65536;
                    CREATE TABLE t(x BLOB); BEGIN;
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                    INSERT INTO t SELECT zeroblob(4000) FROM n;
                    """
                )
                files.slowDown(by: .milliseconds(5))
                try meter.measuring {
                    isCommitting.store(true, ordering: .relaxed)
                    try connection.execute("COMMIT")
                }
            } catch {
                Issue.record(error)
            }
        }
        var seen: Set<UInt64> = []
        try await until { isCommitting.load(ordering: .relaxed) }
        try await until {
            let reading = meter.reading
            if reading.isAtWork { seen.insert(reading.steps) }
            return !reading.isAtWork
        }
        await result
        // At least two seconds of writes, one every five milliseconds.
        #expect(seen.count > 10, "\(seen.count) different readings")
        withExtendedLifetime(temporary) {}
    }

    @Test("Reads are steps: one instruction that removes a large value reads each of its pages")
    func reads() async throws {
        let temporary = try TemporaryDirectory()
        let path = temporary.file("read")
        let meter = WorkMeter()
        let executor = DatabaseExecutor(label: "reads")
        let phase = Atomic(0)
        async let result: Void = executor.perform {
            let descriptor = open(path, O_RDWR | O_CREAT, 0o600)
            defer { close(descriptor) }
            meter.measuring {
                phase.store(1, ordering: .relaxed)
                while phase.load(ordering: .relaxed) == 1 {}
                var byte: UInt8 = 0
                for _ in 0..<100 { _ = pread(descriptor, &byte, 1, 0) }
                phase.store(3, ordering: .relaxed)
                while phase.load(ordering: .relaxed) == 3 {}
            }
        }
        try await until { phase.load(ordering: .relaxed) == 1 }
        let before = meter.reading
        phase.store(2, ordering: .relaxed)
        try await until { phase.load(ordering: .relaxed) == 3 }
        #expect(meter.reading.steps >= before.steps + 100)
        phase.store(4, ordering: .relaxed)
        await result
        withExtendedLifetime(temporary) {}
    }

    @Test("Work that is stuck makes none")
    func stuck() async throws {
        let meter = WorkMeter()
        let isStuck = Atomic(false)
        let isReleased = Atomic(false)
        let executor = DatabaseExecutor(label: "stuck")
        async let result: Void = executor.perform {
            meter.measuring {
                isStuck.store(true, ordering: .relaxed)
                while !isReleased.load(ordering: .relaxed) {}
            }
        }
        try await until { isStuck.load(ordering: .relaxed) }
        let before = meter.reading
        #expect(before.isAtWork)
        for _ in 0..<20 { #expect(meter.reading == before) }
        isReleased.store(true, ordering: .relaxed)
        await result
        #expect(!meter.reading.isAtWork)
        #expect(meter.reading != before)
    }
}
