import Dispatch
import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite(
    "Servers and networks that fail",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct FaultTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private static let steps = [
        Step("BEGIN"), Step("INSERT INTO t VALUES ($1)", [.integer(1)]),
        Step("SELECT repeat('x', 100)"), Step("COMMIT"),
    ]

    private func connect(through proxy: FaultProxy) throws -> Connection {
        proxy.arm(.none)
        return try Connection(database.target(proxy.host), deadline: .after(.seconds(60)))
    }

    /// The bytes of an undisturbed run in each direction.
    private func bytesOfSteps(
        through proxy: FaultProxy
    ) throws -> (toClient: Int, toServer: Int) {
        let connection = try connect(through: proxy)
        proxy.arm(.none)
        try connection.pipeline(Self.steps)
        let counts = proxy.counts
        return (counts.toClient, counts.toServer)
    }

    private func count(_ connection: Connection) throws -> Int64 {
        try connection.run("SELECT count(*) FROM t").integer(0, 0)
    }

    @Test("A connection that is cut at any byte of the answer ends with an error, never in between")
    func cutAnswers() throws {
        let direct = try database.connect()
        try direct.execute("CREATE TABLE t (n int8)")
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let size = try bytesOfSteps(through: proxy).toClient
        #expect(size > 150)
        var committed = 0
        for limit in 0...size {
            try direct.execute("TRUNCATE t")
            let connection = try connect(through: proxy)
            proxy.arm(.cut(.toClient, after: limit))
            if limit < size {
                let error = try #require(throws: PostgreSQLError.self, "byte \(limit)") {
                    try connection.pipeline(Self.steps)
                }
                #expect(error.condition == .unreachable, "byte \(limit)")
                #expect(error.connectionIsLost)
                #expect(connection.loss != nil)
            } else {
                try connection.pipeline(Self.steps)
            }
            committed += Int(try count(direct))
        }
        // The server had the whole request each time: the caller cannot tell from the error.
        #expect(committed == size + 1)
    }

    @Test("A connection that is cut within the request commits nothing")
    func cutRequests() throws {
        let direct = try database.connect()
        try direct.execute("CREATE TABLE t (n int8)")
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let size = try bytesOfSteps(through: proxy).toServer
        try direct.execute("TRUNCATE t")
        // The last message is the sync, of five bytes, without which COMMIT has run already.
        for limit in stride(from: 0, to: size - 60, by: 7) {
            let connection = try connect(through: proxy)
            proxy.arm(.cut(.toServer, after: limit))
            #expect(throws: PostgreSQLError.self, "byte \(limit)") {
                try connection.pipeline(Self.steps)
            }
            #expect(try count(direct) == 0, "byte \(limit)")
        }
    }

    @Test("A connection that falls silent at any byte ends at its deadline")
    func silence() throws {
        try database.connect().execute("CREATE TABLE t (n int8)")
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        for limit in [0, 1, 5, 20, 60, 100, 150] {
            let connection = try connect(through: proxy)
            proxy.arm(.silence(.toClient, after: limit))
            let error = try #require(throws: PostgreSQLError.self) {
                try connection.pipeline(Self.steps, deadline: .after(.milliseconds(50)))
            }
            #expect(error.cause == .timedOut, "byte \(limit)")
        }
    }

    @Test("A network that takes no bytes ends a large request at its deadline")
    func fullBuffers() throws {
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let server = try StalledServer()
        let error = try #require(throws: PostgreSQLError.self) {
            try Connection(
                database.target(.network(name: "127.0.0.1", port: server.port)),
                deadline: .after(.milliseconds(100))
            )
        }
        #expect(error.cause == .timedOut)
        let connection = try Connection(database.target(proxy.host), deadline: .after(.seconds(60)))
        proxy.arm(.silence(.toServer, after: 0))
        let content = [UInt8](repeating: 1, count: 64 << 20)
        let failure = try #require(throws: PostgreSQLError.self) {
            try connection.run(
                "SELECT length($1)",
                [.bytes(content)],
                deadline: .after(.milliseconds(300))
            )
        }
        #expect(failure.cause == .timedOut)
    }

    @Test(
        "An administrator's end of the connection is reported, while it works and while it is idle"
    )
    func termination() throws {
        let direct = try database.connect()
        let idle = try database.connect()
        try direct.run(
            "SELECT pg_terminate_backend($1::int8::int4, 10000)",
            [.integer(Int64(idle.backendID))]
        )
        let first = try #require(throws: PostgreSQLError.self) { try idle.run("SELECT 1") }
        #expect(first.sqlState == "57P01")
        #expect(first.condition == .unreachable)
        #expect(first.connectionIsLost)

        let busy = try database.connect()
        let process = Int64(busy.backendID)
        let target = database.target()
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(200)) {
            let other = try? Connection(target, deadline: .after(.seconds(60)))
            _ = try? other?.run("SELECT pg_terminate_backend($1::int8::int4)", [.integer(process)])
        }
        let second = try #require(throws: PostgreSQLError.self) {
            try busy.pipeline([Step("SELECT 1"), Step("SELECT pg_sleep(25)")])
        }
        #expect(second.sqlState == "57P01")
        #expect(second.step == 1)
        #expect(second.connectionIsLost)
    }

    @Test("A server that crashes and starts again is found again, with what was committed")
    func restart() throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        let connection = try database.connect()
        try connection.execute("CREATE TABLE t (n int8); INSERT INTO t VALUES (1); CHECKPOINT")
        let before = try connection.identity()
        try connection.pipeline([Step("BEGIN"), Step("INSERT INTO t VALUES (2)")])
        try server.stop(.immediate)
        let error = try #require(throws: PostgreSQLError.self) { try connection.run("COMMIT") }
        #expect(error.condition == .unreachable)
        #expect(error.connectionIsLost)
        let away = try #require(throws: PostgreSQLError.self) { try database.connect() }
        #expect(away.condition == .unreachable)
        try server.start()
        let again = try database.connect()
        #expect(try count(again) == 1)
        let after = try again.identity()
        #expect(after.hasSameHistory(as: before))
        #expect(after.startedAt > before.startedAt)
        #expect(try again.identity() == after)
    }

    @Test("A full disk is reported as such, and the connection stays usable")
    func diskFull() throws {
        let connection = try database.connect()
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.execute(
                "DO $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = 'disk_full'; END $$"
            )
        }
        #expect(error.condition == .diskFull)
        #expect(!error.connectionIsLost)
        #expect(try connection.run("SELECT 1::int8").integer(0, 0) == 1)
    }
}
