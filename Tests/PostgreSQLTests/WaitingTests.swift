import Dispatch
import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite(
    "Waits, and their ends",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct WaitingTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private func soon(_ body: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(100), execute: body)
    }

    // MARK: Interruption

    @Test("Another thread interrupts a statement; later ones end at once")
    func interruption() throws {
        let interruption = try Interruption()
        let connection = try Connection(
            database.target(),
            deadline: .after(.seconds(60)),
            interruption: interruption
        )
        soon { interruption.interrupt() }
        let start = ContinuousClock.now
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.run("SELECT pg_sleep(25)")
        }
        #expect(error.cause == .interrupted)
        #expect(error.connectionIsLost)
        #expect(.now - start < .seconds(20))
        #expect(connection.loss?.cause == .interrupted)
        #expect(throws: PostgreSQLError.self) { try connection.run("SELECT 1") }
        let opening = try #require(throws: PostgreSQLError.self) {
            try Connection(
                database.target(),
                deadline: .after(.seconds(60)),
                interruption: interruption
            )
        }
        #expect(opening.cause == .interrupted)
    }

    @Test("Another thread interrupts the opening, a wait for notifications, and a COPY")
    func otherInterruptions() throws {
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        proxy.arm(.silence(.toServer, after: 0))
        let first = try Interruption()
        soon { first.interrupt() }
        let opening = try #require(throws: PostgreSQLError.self) {
            try Connection(
                database.target(proxy.host),
                deadline: .after(.seconds(60)),
                interruption: first
            )
        }
        #expect(opening.cause == .interrupted)

        let second = try Interruption()
        let listening = try Connection(
            database.target(),
            deadline: .after(.seconds(60)),
            interruption: second
        )
        soon { second.interrupt() }
        let waiting = try #require(throws: PostgreSQLError.self) {
            try listening.notifications(until: .after(.seconds(60)))
        }
        #expect(waiting.cause == .interrupted)

        let third = try Interruption()
        let copying = try Connection(
            database.target(),
            deadline: .after(.seconds(60)),
            interruption: third
        )
        try copying.execute("CREATE TABLE t (n int8)")
        soon { third.interrupt() }
        let copy = try #require(throws: PostgreSQLError.self) {
            try copying.copy(into: "t", deadline: .after(.seconds(60))) { [.integer(1)] }
        }
        #expect(copy.cause == .interrupted)
    }

    // MARK: Deadlines

    @Test("A deadline ends a statement, and the connection")
    func deadline() throws {
        let connection = try database.connect()
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.run("SELECT pg_sleep(25)", deadline: .after(.milliseconds(100)))
        }
        #expect(error.cause == .timedOut)
        #expect(error.condition == .unreachable)
        #expect(error.connectionIsLost)
        #expect(connection.transaction == .unknown)
    }

    @Test("The limit of the target is the deadline of calls without one")
    func limit() throws {
        var target = database.target()
        target.limits.response = .milliseconds(100)
        let connection = try Connection(target, deadline: .after(.seconds(60)))
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.execute("SELECT pg_sleep(25)")
        }
        #expect(error.cause == .timedOut)
    }

    @Test("A deadline that has passed ends a wait even for a server that never stops sending")
    func flood() throws {
        let connection = try database.connect()
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.execute(
                """
                DO $$ BEGIN FOR i IN 1..100000000 LOOP
                    RAISE NOTICE '%', repeat('x', 1000);
                END LOOP; END $$
                """,
                deadline: .after(.milliseconds(300))
            )
        }
        #expect(error.cause == .timedOut)
    }

    // MARK: Notifications

    @Test("Notifications arrive while the connection waits, and between its statements")
    func notifications() throws {
        let (listener, sender) = (try database.connect(), try database.connect())
        try listener.execute("LISTEN realm")
        try sender.run("SELECT pg_notify('realm', $1)", [.string("7,12;ü")])
        let heard = try listener.notifications(until: .after(.seconds(60)))
        #expect(heard.map(\.channel) == ["realm"])
        #expect(heard.map(\.payload) == ["7,12;ü"])
        #expect(heard.map(\.sender) == [sender.backendID])
        try sender.execute("NOTIFY realm, 'a'; NOTIFY other, 'b'; NOTIFY realm, 'c'")
        try listener.run("SELECT 1")
        #expect(
            try listener.notifications(until: .after(.seconds(60))).map(\.payload) == ["a", "c"]
        )
        #expect(try listener.notifications(until: .after(.milliseconds(10))) == [])
        #expect(try listener.run("SELECT 1::int8").integer(0, 0) == 1)
    }

    @Test("A wake-up ends the wait without an error, also one from before")
    func wake() throws {
        let connection = try database.connect()
        let wake = try Wake()
        soon { wake.signal() }
        let start = ContinuousClock.now
        #expect(try connection.notifications(until: .after(.seconds(60)), wake: wake) == [])
        wake.signal()
        wake.signal()
        #expect(try connection.notifications(until: .after(.seconds(60)), wake: wake) == [])
        #expect(.now - start < .seconds(50))
        // Both signals were one.
        #expect(try connection.notifications(until: .after(.milliseconds(10)), wake: wake) == [])
        #expect(.now - start < .seconds(50))
    }

    @Test("A wake-up, a deadline and an interruption end a wait without a connection")
    func waits() throws {
        let wake = try Wake()
        let interruption = try Interruption()
        soon { wake.signal() }
        #expect(try wake.wait(until: .after(.seconds(60)), unless: interruption))
        #expect(try !wake.wait(until: .after(.milliseconds(10)), unless: interruption))
        soon { interruption.interrupt() }
        let error = try #require(throws: PostgreSQLError.self) {
            try wake.wait(until: .after(.seconds(60)), unless: interruption)
        }
        #expect(error.cause == .interrupted)
    }

    // MARK: Descriptors

    @Test("Connections and failures leave no descriptor open")
    func descriptors() throws {
        // Names of what stays open after the first use of the resolver and the TLS library.
        func open() throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count
        }
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        func use() throws {
            let connection = try database.connect()
            try connection.run("SELECT 1")
            connection.close()
            #expect(throws: PostgreSQLError.self) {
                try Connection(
                    database.target(user: "missing_role"),
                    deadline: .after(.seconds(60))
                )
            }
            let host = Target.Host.network(name: "localhost", port: database.server.port)
            _ = try Connection(database.target(host), deadline: .after(.seconds(60)))
            let slow = try database.connect()
            #expect(throws: PostgreSQLError.self) {
                try slow.run("SELECT pg_sleep(25)", deadline: .after(.milliseconds(1)))
            }
            #expect(throws: PostgreSQLError.self) {
                try Connection(
                    database.target(.network(name: "127.0.0.1", port: 1)),
                    deadline: .after(.seconds(60))
                )
            }
        }
        try use()
        let before = try open()
        for _ in 0..<20 { try use() }
        // Other tests of the process may open a few at the same time.
        #expect(try open() < before + 20)
    }
}
