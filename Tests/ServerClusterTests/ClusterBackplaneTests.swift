import PostgreSQL
import PostgreSQLFixtures
import ServerCluster
import ServerFixtures
import ServerStore
import Surroundings
import Synchronization
import TestSupport
import Testing
import Versions

@Suite(
    "Processes that share a database",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct ClusterBackplaneTests {
    private static let shop = AppID.named("shop-abcde")
    private static let file = ServerFileID(1)
    private static let client = ClientFileID(file: file, ident: FileIdent(3))
    private static let user = UserID("u")
    private static let login = SessionDigest(bytes: [1, 2])

    let cluster: ClusterDatabase

    init() throws {
        cluster = try ClusterDatabase()
        try cluster.sql(
            """
            INSERT INTO app (app_id, domain_id, created_at) VALUES ('shop-abcde', 'd', 0);
            INSERT INTO app_user (app_id, user_id, created_at) VALUES ('shop-abcde', 'u', 0);
            INSERT INTO login_session (app_id, digest, user_id, device_id, device, created_at,
                expires_at) VALUES ('shop-abcde', '\\x0102', 'u', '', '{}', 0, 9000000000000);
            INSERT INTO server_file (app_id, partition, current_version)
                VALUES ('shop-abcde', '"p"', 4);
            INSERT INTO client_file (file_id, ident, salt, user_id, generation, client_version,
                recip_base_version, locked_server_version, is_expired, session_epoch, last_seen_at)
                VALUES (1, 3, 5, 'u', 0, 0, 0, 0, false, 9, 0);
            """
        )
    }

    /// Runs processes until the body ends, each with a participant that has a connection.
    private func running(
        _ processes: [ClusterBackplane],
        following follow: @escaping ClusterDatabase.Follow = { _ in nil },
        _ body: ([Ear]) async throws -> Void
    ) async throws {
        let ears = processes.map { _ in Ear() }
        for (process, ear) in zip(processes, ears) { process.join(ear) }
        try await ClusterDatabase.running(processes, following: processes.map { _ in follow }) {
            try await body(ears)
        }
    }

    @Test("Without a single notice, each poll finds what the others did")
    func lostNotices() async throws {
        // Only the database was changed: no process was told.
        try await running([try cluster.process()]) { ears in
            try await until { ears[0].heard.contains(.growth(of: Self.file, to: ServerVersion(4))) }
            try cluster.sql("UPDATE server_file SET current_version = 6")
            try await until { ears[0].heard.contains(.growth(of: Self.file, to: ServerVersion(6))) }
            let leaves = { (reason: String) in
                BackplaneMessage.control(.user(Self.user, of: Self.shop), .leave(reason: reason))
            }
            try change("UPDATE app_user SET is_disabled = true")
            try await until { ears[0].heard.contains(leaves("user disabled")) }
            try change("DELETE FROM app_user")
            try await until { ears[0].heard.contains(leaves("user deleted")) }
            try change("UPDATE login_session SET is_revoked = true")
            let revoked = BackplaneMessage.control(
                .session(Self.login, of: Self.shop),
                .leave(reason: "session revoked")
            )
            try await until { ears[0].heard.contains(revoked) }
            try change("UPDATE client_file SET session_epoch = 12")
            try await until { ears[0].heard.contains(.takeover(of: Self.client, epoch: 12)) }
            try change("DELETE FROM client_file")
            try await until { ears[0].heard.contains(.control(.client(Self.client), .rebind)) }
            try change("UPDATE app SET read_rule = 'true'")
            try await until { ears[0].heard.contains(.control(.app(Self.shop), .rebind)) }
            #expect(ears[0].heard.contains(.changed(Self.shop)))
            try change("UPDATE app SET sync_state = 'paused'")
            try await until { ears[0].heard.contains(.control(.app(Self.shop), .pause)) }
        }
    }

    private func change(_ text: String) throws {
        try cluster.sql("\(text); UPDATE layout SET control_epoch = control_epoch + 1")
    }

    @Test("An app's record is read again before its connections hear of the change")
    func following() async throws {
        let log = Mutex<[String]>([])
        let processes = [try cluster.process(), try cluster.process()]
        try await running(
            processes,
            following: { app in
                await Task.yield()
                log.withLock { $0.append("follow \(app)") }
                return .paused
            },
            { ears in
                ears[1].whenHeard = { message in
                    if message == .control(.app(Self.shop), .pause) {
                        log.withLock { $0.append("pause") }
                    }
                }
                processes[0].control(.app(Self.shop), .pause)
                #expect(ears[0].heard.contains(.control(.app(Self.shop), .pause)))
                try await until { log.withLock { $0.contains("pause") } }
                let order = log.withLock(\.self)
                #expect(order.first == "follow shop-abcde")
            }
        )
    }

    @Test("An order to pause that comes after sync is enabled again disturbs no connection")
    func latePause() async throws {
        let processes = [try cluster.process(), try cluster.process()]
        try await running(processes, following: { _ in .enabled }) { ears in
            processes[0].control(.app(Self.shop), .pause)
            processes[0].control(.app(Self.shop), .rebind)
            try await until { ears[1].heard.contains(.control(.app(Self.shop), .rebind)) }
            #expect(!ears[1].heard.contains(.control(.app(Self.shop), .pause)))
        }
    }

    @Test("A killed coordination connection is made again, and nothing is missed")
    func killed() async throws {
        let processes = [try cluster.process(), try cluster.process()]
        try await running(processes) { ears in
            let kill = """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'realm-server' AND pid <> pg_backend_pid()
                    AND datname = current_database();
                """
            for version in UInt64(5)...8 {
                try cluster.sql("\(kill) UPDATE server_file SET current_version = \(version)")
                processes[0].announce(ServerVersion(version), of: Self.file)
                let growth = BackplaneMessage.growth(of: Self.file, to: ServerVersion(version))
                try await until { ears[1].heard.contains(growth) }
            }
            // An order may pass while its receiver is away: the record tells it.
            try cluster.sql("\(kill) UPDATE app_user SET is_disabled = true")
            let audience = ConnectionAudience.user(Self.user, of: Self.shop)
            let order = ConnectionOrder.leave(reason: "user disabled")
            processes[0].control(audience, order)
            try await until { ears[1].heard.contains(.control(audience, order)) }
            try await until { processes.allSatisfy { $0.obstacle == nil } }
        }
    }

    @Test("A database that is away is an obstacle, until it is back; the log tells both")
    func away() async throws {
        let server = try PostgreSQLServer.shared()
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.stop() }
        let log = LogRecorder()
        let process = try cluster.process(proxy.host, logger: log.logger)
        try await running([process]) { ears in
            proxy.arm(.cut(.toServer, after: 0))
            try await until { process.obstacle != nil }
            #expect(process.obstacle?.hasPrefix("the database cannot be reached: ") == true)
            try cluster.sql("UPDATE server_file SET current_version = 9")
            #expect(!ears[0].heard.contains(.growth(of: Self.file, to: ServerVersion(9))))
            proxy.arm(.none)
            try await until { process.obstacle == nil }
            try await until { ears[0].heard.contains(.growth(of: Self.file, to: ServerVersion(9))) }
            try await until { log.records.last?.message == "database connected" }
            let messages = log.records.map(\.message)
            #expect(messages.last { $0.hasPrefix("database conn") } == "database connected")
            #expect(messages.contains("database connection lost"))
        }
    }

    @Test("Another store in the place of this one is an obstacle")
    func otherStore() async throws {
        let process = try cluster.process()
        try await running([process]) { _ in
            try cluster.sql(
                """
                UPDATE layout SET store_id = gen_random_uuid();
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                WHERE application_name = 'realm-server' AND pid <> pg_backend_pid()
                    AND datname = current_database()
                """
            )
            try await until { process.obstacle?.contains("another store than before") == true }
        }
    }

    @Test("A clock that is more than a minute off is an obstacle")
    func clock() async throws {
        let late = WallClock { WallClockFixture.now() - 61_000 }
        let process = try cluster.process(clock: late)
        let task = Task { await process.run { _ in nil } }
        try await until { process.obstacle?.hasPrefix("the clock of this machine differs") == true }
        task.cancel()
        await task.value
    }

    @Test("A process that ended is gone from the table, and from the counts")
    func ending() async throws {
        let (one, two) = (try cluster.process(), try cluster.process())
        try await running([one]) { _ in
            try await running([two]) { _ in
                let both = ConnectionCounts(connections: 2, sessions: 2)
                try await until { await one.ask(Self.shop) == both }
                try await until { await two.ask(Self.shop) == both }
            }
            let own = ConnectionCounts(connections: 1, sessions: 1)
            try await until { await one.ask(Self.shop) == own }
        }
        let connection = try Connection(cluster.target(), deadline: .after(.seconds(60)))
        #expect(try connection.run("SELECT count(*) FROM process").integer(0, 0) == 0)
    }

    /// Keeps what it hears; it has one connection.
    private final class Ear: BackplaneParticipant {
        private struct State {
            var heard: [BackplaneMessage] = []
            var hook: @Sendable (BackplaneMessage) -> Void = { _ in }
        }

        private let state = Mutex(State())

        var heard: [BackplaneMessage] { state.withLock(\.heard) }

        var whenHeard: @Sendable (BackplaneMessage) -> Void {
            get { state.withLock(\.hook) }
            set { state.withLock { $0.hook = newValue } }
        }

        func receive(_ message: BackplaneMessage) {
            let hook = state.withLock { state in
                state.heard.append(message)
                return state.hook
            }
            hook(message)
        }

        func counts(of app: AppID) -> ConnectionCounts {
            presence.counts[app] ?? ConnectionCounts()
        }

        var presence: ConnectionPresence {
            ConnectionPresence(
                counts: [ClusterBackplaneTests.shop: ConnectionCounts(connections: 1, sessions: 1)],
                clients: [ClusterBackplaneTests.client: 9],
                users: [AppMember(ClusterBackplaneTests.user, of: ClusterBackplaneTests.shop)],
                loginSessions: [
                    AppMember(ClusterBackplaneTests.login, of: ClusterBackplaneTests.shop)
                ]
            )
        }
    }
}
