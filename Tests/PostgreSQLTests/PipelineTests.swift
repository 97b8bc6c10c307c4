import PostgreSQL
import PostgreSQLFixtures
import Testing

@Suite(
    "Pipelines",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct PipelineTests {
    let database: TestDatabase
    let connection: Connection

    init() throws {
        database = try TestDatabase()
        connection = try database.connect()
        try connection.execute("CREATE TABLE t (v int8 PRIMARY KEY)")
    }

    private func insert(_ number: Int64) -> Step {
        Step("INSERT INTO t VALUES ($1)", [.integer(number)])
    }

    private func count() throws -> Int64 {
        try connection.run("SELECT count(*) FROM t").integer(0, 0)
    }

    @Test("Each step sees those before it, and returns its rows")
    func order() throws {
        let rows = try connection.pipeline([
            insert(1), Step("SELECT v FROM t"), insert(2), Step("SELECT v FROM t ORDER BY v DESC"),
        ])
        #expect(rows.map(\.count) == [0, 1, 0, 2])
        #expect(rows.map(\.changes) == [1, 1, 1, 2])
        #expect(try rows[3].integer(0, 0) == 2)
        #expect(rows[3].columnCount == 1)
    }

    @Test("A pipeline without steps has no rows")
    func empty() throws {
        #expect(try connection.pipeline([]).isEmpty)
    }

    @Test(
        "An error in the middle undoes all of it, names its step, and leaves the connection usable"
    )
    func failure() throws {
        for position in 0..<5 {
            var steps = (0..<5).map { insert(Int64(10 + $0)) }
            steps[position] = Step("SELECT 1 / ($1::int8 - $1::int8)", [.integer(1)])
            let error = try #require(throws: PostgreSQLError.self) {
                try connection.pipeline(steps)
            }
            #expect(error.sqlState == "22012")
            #expect(error.step == position)
            #expect(!error.connectionIsLost)
            #expect(connection.transaction == .none)
            #expect(try count() == 0)
        }
    }

    @Test("An error in a transaction leaves it failed until it is rolled back")
    func failedTransaction() throws {
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.pipeline([Step("BEGIN"), insert(1), insert(1), insert(2)])
        }
        #expect(error.sqlState == "23505")
        #expect(error.constraint == "t_pkey")
        #expect(error.step == 2)
        #expect(connection.transaction == .failed)
        let second = try #require(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
        #expect(second.sqlState == "25P02")
        try connection.run("ROLLBACK")
        #expect(connection.transaction == .none)
        #expect(try count() == 0)
    }

    @Test(
        "A statement that cannot be prepared is an error of its step, also when it is tried again"
    )
    func preparation() throws {
        for _ in 0..<2 {
            let error = try #require(throws: PostgreSQLError.self) {
                try connection.pipeline([insert(1), Step("SELECT v FROM missing")])
            }
            #expect(error.sqlState == "42P01")
            #expect(error.step == 1)
            #expect(error.condition == .unusable)
        }
        #expect(try count() == 0)
    }

    @Test("A statement that was skipped before it was prepared is prepared the next time")
    func skippedPreparation() throws {
        #expect(throws: PostgreSQLError.self) {
            try connection.pipeline([insert(1), insert(1), Step("SELECT 4::int8")])
        }
        #expect(try connection.pipeline([insert(1), Step("SELECT 4::int8")])[1].integer(0, 0) == 4)
    }

    @Test("Statements are prepared once, however often they run")
    func preparedOnce() throws {
        for number in 0..<20 {
            try connection.pipeline([insert(Int64(number)), insert(Int64(-1 - number))])
        }
        let rows = try connection.run(
            "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'INSERT%'"
        )
        #expect(try rows.integer(0, 0) == 1)
    }

    @Test("One text with other types of parameters is another statement")
    func otherTypes() throws {
        let sql: StaticString = "SELECT $1"
        for _ in 0..<2 {
            let rows = try connection.pipeline([
                Step(sql, [.integer(1)]), Step(sql, [.string("1")]), Step(sql, [.bool(nil)]),
            ])
            #expect(try rows[0].integer(0, 0) == 1)
            #expect(try rows[1].string(0, 0) == "1")
            #expect(try rows[2].isNull(0, 0))
        }
    }

    @Test("More is sent and received at once than sockets hold")
    func large() throws {
        let content = [UInt8](repeating: 7, count: 300_000)
        let steps = (0..<60).map { _ in Step("SELECT $1 || $1", [.bytes(content)]) }
        let rows = try connection.pipeline(steps)
        #expect(rows.count == 60)
        for rows in rows { #expect(try rows.bytes(0, 0).count == 600_000) }
    }

    @Test("1 000 steps are one round trip")
    func manySteps() throws {
        try connection.pipeline((0..<1000).map { insert(Int64($0)) })
        #expect(try count() == 1000)
    }

    @Test("A conflict of transactions is to be tried again")
    func conflict() throws {
        let other = try database.connect()
        try connection.pipeline([insert(1)])
        let begin = Step("BEGIN ISOLATION LEVEL SERIALIZABLE")
        let read = Step("SELECT sum(v)::int8 FROM t")
        try connection.pipeline([begin, read, insert(2)])
        try other.pipeline([begin, read, insert(3), Step("COMMIT")])
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.pipeline([read, Step("COMMIT")])
        }
        #expect(error.sqlState == "40001")
        #expect(error.condition == .mustRetry)
    }

    @Test("A lock that is not free in time is reported as such")
    func lock() throws {
        var target = database.target()
        target.limits.lock = .milliseconds(100)
        let other = try Connection(target, deadline: .after(.seconds(60)))
        try connection.pipeline([Step("BEGIN"), insert(1)])
        let error = try #require(throws: PostgreSQLError.self) { try other.pipeline([insert(1)]) }
        #expect(error.sqlState == "55P03")
        #expect(error.condition == .locked)
        #expect(!error.connectionIsLost)
        try connection.run("COMMIT")
    }

    @Test("A statement that runs too long is ended by the server")
    func statementTimeout() throws {
        var target = database.target()
        target.limits.statement = .milliseconds(100)
        let connection = try Connection(target, deadline: .after(.seconds(60)))
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.run("SELECT pg_sleep(60)")
        }
        #expect(error.sqlState == "57014")
        #expect(error.condition == .timedOut)
        #expect(try connection.run("SELECT 1::int8").integer(0, 0) == 1)
    }

    @Test("A transaction that does nothing for too long is ended by the server")
    func idleTransaction() throws {
        var target = database.target()
        target.limits.idleInTransaction = .milliseconds(100)
        let connection = try Connection(target, deadline: .after(.seconds(60)))
        try connection.run("BEGIN")
        // The server says so before the connection ends.
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.notifications(until: .after(.seconds(60)))
        }
        #expect(error.condition == .unreachable)
        #expect(error.connectionIsLost)
        #expect(connection.loss != nil)
        let second = try #require(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
        #expect(second.connectionIsLost)
    }

    @Test("A script runs as one transaction, and its error has no step")
    func script() throws {
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.execute("INSERT INTO t VALUES (1); INSERT INTO t VALUES (1)")
        }
        #expect(error.sqlState == "23505")
        #expect(error.step == nil)
        #expect(try count() == 0)
        try connection.execute("INSERT INTO t VALUES (1); SELECT 1; ; INSERT INTO t VALUES (2)")
        #expect(try count() == 2)
    }

    @Test("The server keeps the settings of the start")
    func settings() throws {
        let expected = [
            "plan_cache_mode": "force_generic_plan", "jit": "off", "enable_seqscan": "off",
            "lock_timeout": "5s",
            "statement_timeout": "30s", "idle_in_transaction_session_timeout": "1min",
            "client_connection_check_interval": "10s", "client_encoding": "UTF8",
            "application_name": "realm-server", "search_path": "\"a \\ \"\"b\", pg_temp",
        ]
        var target = database.target()
        target.schema = "a \\ \"b"
        let connection = try Connection(target, deadline: .after(.seconds(60)))
        for (name, value) in expected {
            let rows = try connection.run("SELECT current_setting($1)", [.string(name)])
            #expect(try rows.string(0, 0) == value, "\(name)")
        }
        #expect(connection.serverVersion >= 140_000)
    }
}
