import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import TestSupport
import Testing

@Suite(
    "Lanes",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct LanesTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private struct Refusal: Error {}

    private func one(_ lanes: Lanes) async throws -> Int64 {
        try await lanes.perform { try $0.run("SELECT 1::int8").integer(0, 0) }
    }

    private func failure(_ lanes: Lanes) async throws -> LaneFailure {
        try await #require(throws: LaneFailure.self) { try await one(lanes) }
    }

    /// Does more jobs at once than there are lanes; returns the server's processes that did them. A job
    /// lasts until so many of them take part: on a busy machine one lane could do all before others begin.
    private func backendsOfManyJobs(
        on lanes: Lanes,
        expecting count: Int,
        rounds: Int = 3000
    ) async throws -> Set<Int32> {
        let processes = Shared<Set<Int32>>([])
        try await withThrowingTaskGroup { group in
            for _ in 0..<30 {
                group.addTask {
                    try await lanes.perform { connection in
                        let process = connection.backendID
                        processes.change { _ = $0.insert(process) }
                        for round in 0..<rounds where round == 0 || processes.value.count < count {
                            try connection.run("SELECT pg_sleep(0.02)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return processes.value
    }

    @Test("Jobs run on as many connections as the pool has, and no more")
    func parallel() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 3))
        #expect(try await backendsOfManyJobs(on: lanes, expecting: 3).count == 3)
        #expect(lanes.count == 3)
        await lanes.close(within: .seconds(60))
        #expect(lanes.count == 0)
        #expect(try await failure(lanes) == .closed)
    }

    @Test("Jobs that follow each other share a connection")
    func sequence() async throws {
        let lanes = try Lanes(database.target())
        var processes: Set<Int32> = []
        for _ in 0..<10 { processes.insert(try await lanes.perform { $0.backendID }) }
        #expect(processes.count == 1)
        await lanes.close(within: .seconds(60))
    }

    @Test("A body's error comes through, and its open transaction is rolled back")
    func errors() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1))
        try await lanes.perform { try $0.execute("CREATE TABLE t (n int8)") }
        await #expect(throws: Refusal.self) {
            try await lanes.perform { connection in
                try connection.pipeline([Step("BEGIN"), Step("INSERT INTO t VALUES (1)")])
                throw Refusal()
            }
        }
        await #expect(throws: PostgreSQLError.self) {
            try await lanes.perform { connection in
                _ = try connection.pipeline([Step("BEGIN"), Step("SELECT 1/0")])
            }
        }
        let state = try await lanes.perform { connection in
            (connection.transaction, try connection.run("SELECT count(*) FROM t").integer(0, 0))
        }
        #expect(state.0 == .none)
        #expect(state.1 == 0)
        await lanes.close(within: .seconds(60))
    }

    @Test("A connection that the server ended between two jobs is replaced before the second")
    func replacement() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1))
        let first = try await lanes.perform { $0.backendID }
        try database.connect().run(
            "SELECT pg_terminate_backend($1::int8::int4, 60000)",
            [.integer(Int64(first))]
        )
        #expect(try await one(lanes) == 1)
        #expect(try await lanes.perform { $0.backendID } != first)
        await lanes.close(within: .seconds(60))
    }

    @Test("More jobs than may wait are refused, and those that wait run")
    func full() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1, waiting: 3))
        let gate = Shared(false)
        let started = Shared(false)
        let (done, refused) = try await withThrowingTaskGroup { group in
            group.addTask {
                try await lanes.perform { connection in
                    started.change { $0 = true }
                    for _ in 0..<6000 where !gate.value {
                        try connection.run("SELECT pg_sleep(0.01)")
                    }
                }
                return true
            }
            try await until { started.value }
            for _ in 0..<5 {
                group.addTask {
                    do {
                        return try await one(lanes) == 1
                    } catch LaneFailure.full {
                        gate.change { $0 = true }
                        return false
                    }
                }
            }
            return try await group.reduce(into: (0, 0)) { counts, isDone in
                if isDone { counts.0 += 1 } else { counts.1 += 1 }
            }
        }
        #expect(done == 4)
        #expect(refused == 2)
        await lanes.close(within: .seconds(60))
    }

    @Test("A server that is away fails work at once, and is found when it is back")
    func away() async throws {
        let server = try PostgreSQLServer()
        let lanes = try Lanes(server.target(), limits: .init(lanes: 2))
        #expect(try await one(lanes) == 1)
        try server.stop(.immediate)
        let start = ContinuousClock.now
        for _ in 0..<200 {
            guard case .noConnection(let error) = try await failure(lanes) else {
                Issue.record("the server is away")
                return
            }
            #expect(error.condition == .unreachable)
        }
        #expect(.now - start < .seconds(30))
        try server.start()
        try await until { (try? await one(lanes)) == 1 }
        await lanes.close(within: .seconds(60))
    }

    @Test("A server with too many connections leaves those that the pool has")
    func tooMany() async throws {
        let connection = try database.connect()
        try connection.execute("DROP ROLE IF EXISTS two; CREATE ROLE two LOGIN CONNECTION LIMIT 2")
        let lanes = try Lanes(database.target(user: "two"), limits: .init(lanes: 6))
        // The server counts connections that only begin: of six at once it may refuse all but one.
        try await until {
            try await backendsOfManyJobs(on: lanes, expecting: 2, rounds: 25).count == 2
        }
        // Lanes that found no job, and never had a connection, end in their own time.
        try await until { lanes.count == 2 }
        await lanes.close(within: .seconds(60))
        try connection.execute("DROP ROLE two")
    }

    @Test("A new connection is looked at before its first job")
    func check() async throws {
        let made = Shared(0)
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1)) {
            connection throws(LaneFailure) in
            made.change { $0 += 1 }
            if made.value == 1 { throw .unusable(.otherStore) }
        }
        #expect(try await failure(lanes) == .unusable(.otherStore))
        #expect(try await one(lanes) == 1)
        #expect(try await one(lanes) == 1)
        #expect(made.value == 2)
        await lanes.close(within: .seconds(60))
    }

    @Test("The end interrupts waits for the server after its grace, and answers what waits")
    func end() async throws {
        let lanes = try Lanes(database.target(), limits: .init(lanes: 1))
        let started = Shared(false)
        async let slow: Void = lanes.perform { connection in
            started.change { $0 = true }
            try connection.run("SELECT pg_sleep(25)")
        }
        try await until { started.value }
        async let waiting = one(lanes)
        let start = ContinuousClock.now
        await lanes.close(within: .milliseconds(200))
        #expect(.now - start < .seconds(20))
        #expect(lanes.count == 0)
        do {
            try await slow
            Issue.record("a wait of 25 seconds ended at once")
        } catch let error as PostgreSQLError {
            #expect(error.cause == .interrupted)
        }
        do {
            // It was handed in before or after the end.
            _ = try await waiting
            Issue.record("a job ran after the end")
        } catch LaneFailure.closed {}
    }

    @Test("A pool that was never used ends at once")
    func unused() async throws {
        let lanes = try Lanes(database.target())
        await lanes.close(within: .seconds(60))
        #expect(lanes.count == 0)
    }
}
