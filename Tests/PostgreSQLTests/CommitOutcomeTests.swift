import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite(
    "COMMIT without an answer",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct CommitOutcomeTests {
    let database: TestDatabase
    let asking: Connection

    init() throws {
        database = try TestDatabase()
        asking = try database.connect()
        try asking.execute("CREATE TABLE t (n int8)")
    }

    /// Begins a transaction that has written.
    private func begin(on connection: Connection) throws -> TransactionTicket {
        let rows = try connection.pipeline([
            Step("BEGIN"), ServerIdentity.step, TransactionTicket.step,
            Step("INSERT INTO t VALUES (1)"),
        ])
        return TransactionTicket(
            number: try rows[2].integer(0, 0),
            server: try ServerIdentity(rows[1])
        )
    }

    @Test("An answer that is lost: committed")
    func lostAnswer() throws {
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let connection = try Connection(database.target(proxy.host), deadline: .after(.seconds(60)))
        let ticket = try begin(on: connection)
        proxy.arm(.cut(.toClient, after: 0))
        #expect(throws: PostgreSQLError.self) { try connection.run("COMMIT") }
        #expect(try asking.outcome(of: ticket) == .committed)
    }

    @Test("A request that is lost: aborted")
    func lostRequest() throws {
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let connection = try Connection(database.target(proxy.host), deadline: .after(.seconds(60)))
        let ticket = try begin(on: connection)
        proxy.arm(.cut(.toServer, after: 0))
        #expect(throws: PostgreSQLError.self) { try connection.run("COMMIT") }
        #expect(try asking.outcome(of: ticket, until: .after(.seconds(60))) == .aborted)
        #expect(try asking.run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }

    @Test("A transaction that is still under way: unknown at the deadline")
    func underWay() throws {
        let connection = try database.connect()
        let ticket = try begin(on: connection)
        let outcome = try asking.outcome(
            of: ticket,
            until: .after(.milliseconds(100)),
            pause: .milliseconds(10)
        )
        #expect(outcome == .unknown)
        try connection.run("COMMIT")
        #expect(try asking.outcome(of: ticket) == .committed)
    }

    @Test("A number that the server has not used yet, or another server: unknown")
    func otherServers() throws {
        let identity = try asking.identity()
        let future = TransactionTicket(number: 1 << 40, server: identity)
        #expect(try asking.outcome(of: future) == .unknown)
        let ticket = try begin(on: database.connect())
        for server in [
            ServerIdentity(
                system: identity.system,
                timeline: identity.timeline + 1,
                startedAt: identity.startedAt
            ),
            ServerIdentity(
                system: identity.system + 1,
                timeline: identity.timeline,
                startedAt: identity.startedAt
            ),
        ] {
            let elsewhere = TransactionTicket(number: ticket.number, server: server)
            #expect(try asking.outcome(of: elsewhere) == .unknown)
        }
    }

    @Test("A promotion begins another timeline at once; an ordinary role may ask")
    func promotion() throws {
        let server = try PostgreSQLServer()
        let database = try TestDatabase(on: server)
        let before = try Connection(
            database.target(user: "plain"),
            deadline: .after(.seconds(60))
        ).identity()
        try server.stop(.fast)
        try server.run("touch data/standby.signal")
        try server.start()
        try server.promote()
        let after = try Connection(
            database.target(user: "plain"),
            deadline: .after(.seconds(60))
        ).identity()
        #expect(after.system == before.system)
        #expect(after.timeline == before.timeline + 1)
        #expect(!after.hasSameHistory(as: before))
    }
}
