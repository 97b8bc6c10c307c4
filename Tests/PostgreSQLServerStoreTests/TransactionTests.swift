import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@testable import PostgreSQLServerStore

@Suite(
    "Transactions on lanes",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct TransactionTests {
    let database: TestDatabase
    let direct: Connection

    init() throws {
        database = try TestDatabase()
        direct = try database.connect()
        try direct.execute(
            "CREATE TABLE t (n int8, body int8); CREATE TABLE k (n int8 PRIMARY KEY)"
        )
    }

    private struct Refusal: Error {}

    private static func insert(_ number: Int64, run: Int64 = 0) -> Step {
        Step("INSERT INTO t VALUES ($1, $2)", [.integer(number), .integer(run)])
    }

    private func count(_ number: Int64? = nil) throws -> Int64 {
        try direct.run("SELECT count(*) FROM t WHERE n = coalesce($1, n)", [.integer(number)])
            .integer(0, 0)
    }

    @Test("The body gets the rows of the steps, and its writes are committed with it")
    func commit() async throws {
        let lanes = try Lanes(database.target())
        let sum = try await lanes.transact(
            [Step("SELECT 40::int8"), Step("SELECT 2::int8")]
        ) { transaction in
            let sum = try transaction.rows[0].integer(0, 0) + transaction.rows[1].integer(0, 0)
            transaction.writes = [Self.insert(sum), Self.insert(sum)]
            return sum
        }
        #expect(sum == 42)
        #expect(try count(42) == 2)
        await lanes.close(within: .seconds(60))
    }

    @Test("A body that throws, and a write that fails, leave nothing")
    func rollback() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1))
        await #expect(throws: Refusal.self) {
            try await lanes.transact { transaction in
                try transaction.connection.pipeline([Self.insert(1)])
                throw Refusal()
            }
        }
        try direct.execute("INSERT INTO k VALUES (1)")
        let runs = Shared(0)
        let error = try await #require(throws: PostgreSQLError.self) {
            try await lanes.transact { transaction in
                runs.change { $0 += 1 }
                transaction.writes = [Self.insert(1), Step("INSERT INTO k VALUES (1)")]
            }
        }
        #expect(error.condition == .constraint)
        #expect(error.step == 1)
        #expect(runs.value == 1)
        #expect(try count() == 0)
        try await lanes.transact { $0.writes = [Self.insert(2)] }
        #expect(try count() == 1)
        await lanes.close(within: .seconds(60))
    }

    @Test("A body that swallows the failure of its transaction does not count as committed")
    func swallowedFailure() async throws {
        let lanes = try Lanes(database.target())
        let error = try await #require(throws: PostgreSQLError.self) {
            try await lanes.transact { transaction in
                _ = try? transaction.connection.run("SELECT 1 / 0")
            }
        }
        #expect(error == .rolledBack)
        await lanes.close(within: .seconds(60))
    }

    @Test("A deadlock is resolved: both bodies commit, one of them after another run")
    func deadlock() async throws {
        try direct.execute("INSERT INTO k VALUES (1), (2)")
        let lanes = try Lanes(database.target(), limits: .init(lanes: 2))
        let arrived = Shared<Set<Int64>>([])
        let runs = Shared(0)
        let lock: StaticString = "SELECT n FROM k WHERE n = $1 FOR UPDATE"
        try await withThrowingTaskGroup { group in
            for (first, second) in [(1, 2), (2, 1)] as [(Int64, Int64)] {
                group.addTask {
                    try await lanes.transact([Step(lock, [.integer(first)])]) { transaction in
                        runs.change { $0 += 1 }
                        arrived.change { _ = $0.insert(first) }
                        for _ in 0..<6000 where arrived.value.count < 2 {
                            try transaction.connection.run("SELECT pg_sleep(0.01)")
                        }
                        try transaction.connection.run(lock, [.integer(second)])
                        transaction.writes = [Self.insert(first)]
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try count() == 2)
        // They may meet a second time.
        #expect(runs.value >= 3)
        await lanes.close(within: .seconds(60))
    }

    @Test("A conflict that stays is reported after four runs")
    func persistentConflict() async throws {
        let lanes = try Lanes(database.target())
        let runs = Shared(0)
        let error = try await #require(throws: PostgreSQLError.self) {
            try await lanes.transact { transaction in
                runs.change { $0 += 1 }
                try transaction.connection.execute(
                    "DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '40001'; END $$"
                )
            }
        }
        #expect(error.sqlState == "40001")
        #expect(runs.value == 4)
        #expect(try count() == 0)
        await lanes.close(within: .seconds(60))
    }

    @Test("A connection that is ended in the body is replaced, and the body runs again")
    func termination() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1))
        let runs = Shared(Int64(0))
        let target = database.target()
        try await lanes.transact { transaction in
            runs.change { $0 += 1 }
            if runs.value == 1 {
                let other = try Connection(target, deadline: .after(.seconds(60)))
                try other.run(
                    "SELECT pg_terminate_backend($1::int8::int4, 60000)",
                    [.integer(Int64(transaction.connection.backendID))]
                )
            }
            transaction.writes = [Self.insert(1, run: runs.value)]
        }
        #expect(runs.value == 2)
        #expect(try count(1) == 1)
        #expect(try direct.run("SELECT body FROM t").integer(0, 0) == 2)
        await lanes.close(within: .seconds(60))
    }

    @Test(
        "A connection cut at any byte of the last round trip: the transaction counts exactly once"
    )
    func cutCommits() async throws {
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let lanes = try Lanes(database.target(proxy.host), limits: .init(lanes: 1))
        // The statements are prepared, so that each last round trip has the same bytes.
        func transact(_ number: Int64, _ fault: FaultProxy.Fault) async throws -> Int {
            let runs = Shared(0)
            try await lanes.transact { transaction in
                runs.change { $0 += 1 }
                if runs.value == 1 { proxy.arm(fault) } else { proxy.arm(.none) }
                transaction.writes = [Self.insert(number)]
            }
            return runs.value
        }
        _ = try await transact(-1, .none)
        _ = try await transact(-2, .none)
        let (toServer, toClient) = proxy.counts
        #expect(toServer > 50)
        #expect(toClient > 20)
        var number = Int64(0)
        var repeated = 0
        for limit in 0..<toServer where limit.isMultiple(of: 3) {
            repeated += try await transact(number, .cutOnce(.toServer, after: limit)) - 1
            #expect(try count(number) == 1, "byte \(limit) to the server")
            number += 1
            _ = try await transact(-1, .none)
        }
        // Within INSERT and COMMIT nothing has happened; COMMIT runs before the sync arrives.
        #expect(repeated > 10)
        for limit in 0..<toClient {
            let runs = try await transact(number, .cutOnce(.toClient, after: limit))
            // The server had everything: the other connection finds it committed.
            #expect(runs == 1)
            #expect(try count(number) == 1, "byte \(limit) to the client")
            number += 1
            _ = try await transact(-1, .none)
        }
        await lanes.close(within: .seconds(60))
    }

    @Test("After a promotion nothing is known of a COMMIT without an answer")
    func promotion() async throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        try database.connect().execute("CREATE TABLE t (n int8, body int8)")
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.stop() }
        let lanes = try Lanes(database.target(proxy.host), limits: .init(lanes: 1))
        let runs = Shared(0)
        let error = try await #require(throws: TransactionFailure.self) {
            try await lanes.transact { transaction in
                runs.change { $0 += 1 }
                // The request is lost, and so is the server before the answer.
                try server.stop(.immediate)
                try server.run("touch data/standby.signal")
                try server.start()
                try server.promote()
                transaction.writes = [Self.insert(1)]
            }
        }
        guard case .unknownOutcome = error else {
            Issue.record("\(error)")
            return
        }
        #expect(runs.value == 1)
        await lanes.close(within: .seconds(60))
    }

    @Test("A COMMIT that waits for a replica is not taken for committed by a time limit")
    func missingReplica() async throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        let direct = try database.connect()
        try direct.execute("CREATE TABLE t (n int8, body int8)")
        var target = database.target()
        target.limits.statement = .seconds(2)
        target.limits.response = .seconds(5)
        let lanes = try Lanes(target, limits: .init(lanes: 1), outcomeLimit: .milliseconds(500))
        try await lanes.transact { $0.writes = [Self.insert(1)] }
        try direct.run("ALTER SYSTEM SET synchronous_standby_names = 'gone'")
        try direct.run("SELECT pg_reload_conf()")
        let reader = try database.connect()
        try await untilCommitsWait(database, reader)
        let failure = try await #require(throws: TransactionFailure.self) {
            try await lanes.transact { $0.writes = [Self.insert(2)] }
        }
        guard case .unknownOutcome = failure else {
            Issue.record("\(failure)")
            return
        }
        // No other transaction sees it before the replica has it.
        #expect(try reader.run("SELECT count(*) FROM t WHERE n = 2").integer(0, 0) == 0)
        await lanes.close(within: .seconds(60))
        // Nothing commits here any more, not even DROP DATABASE.
        try server.stop(.immediate)
    }

    /// Sessions see a setting before the checkpointer, which decides whether commits wait, does. So a commit
    /// is tried until one waits; it ends with the server.
    private func untilCommitsWait(_ database: TestDatabase, _ reader: Connection) async throws {
        try await until {
            let probe = try database.connect()
            _ = try? probe.run("INSERT INTO t VALUES (-1)", deadline: .after(.milliseconds(200)))
            let rows = try reader.run(
                "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            )
            return try rows.integer(0, 0) > 0
        }
    }

    @Test("A lost connection leaves the outcome open, unless the server ended an earlier step")
    func ambiguity() throws {
        let connection = try database.connect()
        try direct.run(
            "SELECT pg_terminate_backend($1::int8::int4, 60000)",
            [.integer(Int64(connection.backendID))]
        )
        let error = try #require(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
        #expect(error.sqlState == "57P01")
        #expect(error.step == 0)
        #expect(!OpenTransaction.isAmbiguous(error, commit: 1))
        #expect(OpenTransaction.isAmbiguous(error, commit: 0))
        let second = try #require(throws: PostgreSQLError.self) {
            try self.direct.run("SELECT pg_sleep(9)", deadline: .after(.milliseconds(1)))
        }
        #expect(OpenTransaction.isAmbiguous(second, commit: 1))
    }
}
