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
    "Jobs of a server of several processes",
    .serialized,
    .timeLimit(.minutes(5)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct JobTests {
    private static let shop = AppID.named("shop-abcde")
    private static let client = ClientFileID(file: ServerFileID(1), ident: FileIdent(3))
    let cluster: ClusterDatabase

    init() throws {
        cluster = try ClusterDatabase()
        try cluster.sql(
            """
            INSERT INTO client_file (file_id, ident, salt, user_id, generation, client_version,
                recip_base_version, locked_server_version, is_expired, session_epoch, last_seen_at)
                VALUES (1, 3, 5, 'u', 0, 0, 0, 0, false, 9, 0),
                    (1, 4, 5, 'u', 0, 0, 0, 0, false, 9, 0)
            """
        )
    }

    private func number(_ text: StaticString) throws -> Int64 {
        try Connection(cluster.target(), deadline: .after(.seconds(60))).run(text).integer(0, 0)
    }

    @Test("A job is done by one process, once in its interval")
    func once() async throws {
        let processes = try (0..<3).map { _ in try cluster.process() }
        try await ClusterDatabase.running(processes) {
            let count = Counter()
            for _ in 0..<2 {
                await withDiscardingTaskGroup { [processes] group in
                    for process in processes {
                        group.addTask {
                            await process.perform(.trimming, every: .seconds(3300)) { count.add() }
                        }
                    }
                }
            }
            #expect(count.value == 1)
            // Another job, and the same one an hour later.
            await processes[1].perform(.sweeping, every: .seconds(3300)) {
                count.add()
            }
            #expect(count.value == 2)
            try cluster.sql("UPDATE job SET finished_at = finished_at - interval '56 minutes'")
            await processes[2].perform(.trimming, every: .seconds(3300)) {
                count.add()
            }
            #expect(count.value == 3)
        }
    }

    @Test("While one process does a job, no other does")
    func exclusion() async throws {
        let processes = try (0..<2).map { _ in try cluster.process() }
        try await ClusterDatabase.running(processes) {
            let count = Counter()
            await processes[0].perform(.trimming, every: .seconds(3300)) {
                await processes[1].perform(.trimming, every: .seconds(3300)) {
                    count.add()
                }
            }
            #expect(count.value == 0)
        }
    }

    @Test("A process records the clients that it serves, and only these")
    func stamps() async throws {
        let process = try cluster.process()
        process.join(Member())
        try await ClusterDatabase.running([process]) {
            try await until {
                try number("SELECT last_seen_at FROM client_file WHERE ident = 3") > 0
            }
            #expect(try number("SELECT last_seen_at FROM client_file WHERE ident = 4") == 0)
            #expect(try number("SELECT count(sessions_stamped_at) FROM process") == 1)
        }
    }

    @Test("History is trimmed only if every live process has recorded its clients, and agrees")
    func agreement() async throws {
        let processes = try (0..<2).map { _ in try cluster.process() }
        for process in processes { process.join(Member()) }
        try await ClusterDatabase.running(processes) {
            try await until { await processes[0].mayTrim(Self.shop) }
            // A process that has not recorded its clients.
            try cluster.sql(
                """
                INSERT INTO process (process_id, host, pid, program, layout, started_at, seen_at,
                    fingerprints)
                VALUES (gen_random_uuid(), 'x', 1, '1', 1, 0, now() + interval '1 hour',
                    '{"shop-abcde": "same"}')
                """
            )
            #expect(await !processes[0].mayTrim(Self.shop))
            try cluster.sql("UPDATE process SET sessions_stamped_at = now() WHERE host = 'x'")
            #expect(await processes[0].mayTrim(Self.shop))
            // One that recorded them too long ago.
            try cluster.sql(
                "UPDATE process SET sessions_stamped_at = now() - interval '1 hour' WHERE host = 'x'"
            )
            #expect(await !processes[0].mayTrim(Self.shop))
            // One with another configuration, or none, of the app.
            for other in ["{\"shop-abcde\": \"other\"}", "{}"] {
                try cluster.sql(
                    """
                    UPDATE process SET sessions_stamped_at = now(), fingerprints = '\(other)'
                    WHERE host = 'x'
                    """
                )
                #expect(await !processes[0].mayTrim(Self.shop))
            }
            // One that ended.
            try cluster.sql(
                "UPDATE process SET seen_at = now() - interval '1 minute' WHERE host = 'x'"
            )
            #expect(await processes[0].mayTrim(Self.shop))
        }
    }

    @Test("A process whose clock is a minute off does no job, and lets no history be trimmed")
    func clock() async throws {
        let process = try cluster.process(clock: WallClock { WallClockFixture.now() + 61_000 })
        let task = Task { await process.run { _ in nil } }
        try await until { process.obstacle?.hasPrefix("the clock") == true }
        let count = Counter()
        await process.perform(.trimming, every: .seconds(3300)) { count.add() }
        #expect(count.value == 0)
        #expect(await !process.mayTrim(Self.shop))
        task.cancel()
        await task.value
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        var value: Int { count.withLock(\.self) }

        func add() {
            count.withLock { $0 += 1 }
        }
    }

    /// Serves one client of an app.
    private final class Member: BackplaneParticipant {
        func receive(_ message: BackplaneMessage) {}

        func counts(of app: AppID) -> ConnectionCounts { ConnectionCounts() }

        var presence: ConnectionPresence {
            ConnectionPresence(
                clients: [JobTests.client: 9],
                fingerprints: [JobTests.shop: "same"],
                offlineLimitInMilliseconds: 30 * 86_400_000
            )
        }
    }
}
