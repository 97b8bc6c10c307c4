import TestSupport
import Testing

@testable import SQLite

@Suite("Waiting for a lock")
struct BusyWaitTests {
    @Test(
        "The waits take the whole time, and end",
        arguments: [0, 1, 999, 1000, 1003, 5000, 30_000]
    )
    func waits(limit: Int) {
        var count: Int32 = 0
        var sum = 0
        while case let wait = BusyWait.wait(after: count, limitInMilliseconds: limit), wait > 0 {
            #expect(wait <= 5)
            count += 1
            sum += wait
        }
        #expect(sum == limit)
        #expect(BusyWait.wait(after: .max, limitInMilliseconds: limit) == 0)
    }

    @Test(
        "A statement fails once the time has passed, and succeeds if the lock is free before that"
    )
    func lock() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("test.sqlite")
        let holder = try Connection(path: path)
        try holder.execute("CREATE TABLE t(a); BEGIN IMMEDIATE")
        for timeout in [Duration.zero, .milliseconds(20)] {
            let impatient = try Connection(path: path, .init(busyTimeout: timeout))
            let error = #expect(throws: SQLiteError.self) {
                try impatient.execute("BEGIN IMMEDIATE")
            }
            #expect(error?.condition == .busy)
        }
        let waiter = Task.detached {
            let connection = try Connection(path: path, .init(busyTimeout: .seconds(600)))
            try connection.execute("INSERT INTO t VALUES (1)")
        }
        try await Task.sleep(for: .milliseconds(30))
        try holder.execute("COMMIT")
        try await waiter.value
        #expect(try holder.integer("SELECT count(*) FROM t") == 1)
    }
}
