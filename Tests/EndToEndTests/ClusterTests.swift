import Glibc
import PostgreSQLFixtures
import Subprocess
import Synchronization
import TestSupport
import Testing

/// Two processes of the server on one database, behind a balancer, and agents that write.
@Suite(
    "Two processes and a database",
    .serialized,
    .timeLimit(.minutes(20)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct ClusterTests {
    private static let agents = (1...6).map { "agent\($0)" }

    /// For how long agents write: `make test-cluster` asks for more.
    private static let loadTime: Duration = .seconds(
        getenv("REALM_CLUSTER_SECONDS").flatMap { Int(String(cString: $0)) } ?? 20
    )

    /// For how long the database is away.
    private static let absence: Duration = .seconds(
        getenv("REALM_CLUSTER_ABSENCE").flatMap { Int(String(cString: $0)) } ?? 5
    )

    /// Writes of six agents beside what the test does.
    private final class Load: Sendable {
        private let isOver = Atomic(false)
        private let count = Atomic(0)

        /// Rows that were written.
        var rows: Int { count.load(ordering: .relaxed) }

        func end() {
            isOver.store(true, ordering: .relaxed)
        }

        /// Inserts and updates rows of one agent, some in each transaction, until the end.
        func write(_ cluster: ClusterDeployment, _ agent: String, _ position: Int) async throws {
            var round = 0
            while !isOver.load(ordering: .relaxed) {
                let first = position * 1_000_000 + round * 3
                let rows = (0..<3).map { "(\(first + $0), '\(agent)', 0)" }
                try await Programs.sqlite3(
                    cluster.deployment.file(agent),
                    """
                    BEGIN IMMEDIATE;
                    INSERT INTO "Item" (_id, owner, amount) VALUES \(rows.joined(separator: ", "));
                    UPDATE "Item" SET amount = amount + 1 WHERE _id = (SELECT max(_id) FROM "Item"
                        WHERE _id < \(first));
                    COMMIT;
                    """
                )
                count.add(3, ordering: .relaxed)
                round += 1
            }
        }
    }

    /// Lets all agents write while the body runs; the rows that they wrote.
    private func writing(
        _ cluster: ClusterDeployment,
        _ agents: [String],
        _ body: (Load) async throws -> Void
    ) async throws -> Int {
        let load = Load()
        async let writes: Void = withThrowingTaskGroup { group in
            for (position, agent) in agents.enumerated() {
                group.addTask { try await load.write(cluster, agent, position + 1) }
            }
            try await group.waitForAll()
        }
        let result: Result<Void, any Error>
        do { result = .success(try await body(load)) } catch { result = .failure(error) }
        load.end()
        try await writes
        try result.get()
        return load.rows
    }

    /// Lets the agents write for a part of the time, and until there are more rows.
    private func wait(_ parts: Int, _ load: Load) async throws {
        let before = load.rows
        try await Task.sleep(for: Self.loadTime / 10 * parts)
        try await until { load.rows > before }
    }

    @Test(
        "Under writes of six agents: a process killed and frozen, the database restarted, a user out"
    )
    func survival() async throws {
        let cluster = try ClusterDeployment()
        defer { cluster.remove() }
        let deployment = cluster.deployment
        for agent in Self.agents { try deployment.configure(agent, port: cluster.balancer) }
        // This one is a client of the first process.
        try deployment.configure("locked", user: .emailPassword, port: cluster.ports[0])
        try await cluster.withProcess(1) { second in
            let written = try await cluster.withProcess(0) { first in
                try await cluster.withAgents(["locked"]) {
                    try await Programs.sqlite3(
                        deployment.file("locked"),
                        "INSERT INTO \"Item\" (_id, owner, amount) VALUES (1, 'locked', 0);"
                    )
                    try await until { try cluster.view() == ["1|locked|0"] }
                    // Told to the second process, whose client it is not.
                    try await cluster.disableUser(at: 1)
                    let isOut = try await eventually {
                        let status = try await Programs.run(
                            "realm-agent",
                            ["status", "--config", "\(deployment.directory)/locked.yaml"]
                        )
                        return status.output.contains("login-required")
                    }
                    #expect(isOut, "\(deployment.log("locked"))")
                    try await Programs.sqlite3(
                        deployment.file("locked"),
                        "INSERT INTO \"Item\" (_id, owner, amount) VALUES (2, 'locked', 0);"
                    )
                }
                return try await endure(cluster, first, second)
            }
            let rows = try cluster.view()
            #expect(rows.count == written + 1)
            #expect(rows.first?.hasPrefix("1|locked|") == true)
            #expect(!rows.contains { $0.hasPrefix("2|") })
        }
        for agent in Self.agents {
            let log = deployment.log(agent)
            #expect(!log.contains("client reset"), "\(agent): \(log)")
        }
    }

    /// Returns the number of rows that the agents wrote.
    private func endure(
        _ cluster: ClusterDeployment,
        _ first: Deployment.Daemon,
        _ second: Deployment.Daemon
    ) async throws -> Int {
        let written = Mutex(0)
        try await cluster.withAgents(Self.agents[...]) {
            let rows = try await writing(cluster, Self.agents) { load in
                try await wait(2, load)
                first.signal(.kill)
                try await wait(2, load)
                try await cluster.withProcess(0) { _ in
                    try await wait(1, load)
                    try cluster.database.stop(.immediate)
                    try await cluster.expect(503)
                    // Nothing is lost, and sessions continue (P13).
                    try await Task.sleep(for: Self.absence)
                    try cluster.database.start()
                    try await cluster.expect(200)
                    try await wait(2, load)
                    // Also while it holds a file: the others continue when its lock times out.
                    kill(second.pid, SIGSTOP)
                    try await wait(2, load)
                    kill(second.pid, SIGCONT)
                    try await wait(1, load)
                    load.end()
                    try await cluster.expectEqualReplicas(Self.agents)
                }
            }
            written.withLock { $0 = rows }
        }
        return written.withLock(\.self)
    }

    @Test("A promoted replica that lacks commits: clients that know them start over, all are equal")
    func promotion() async throws {
        let cluster = try ClusterDeployment()
        defer { cluster.remove() }
        let deployment = cluster.deployment
        let agents = Array(Self.agents.prefix(3))
        for agent in agents { try deployment.configure(agent, port: cluster.balancer) }
        func insert(_ base: Int) async throws {
            for (position, agent) in agents.enumerated() {
                try await Programs.sqlite3(
                    deployment.file(agent),
                    "INSERT INTO \"Item\" (_id, owner, amount) VALUES (\(base + position), '\(agent)', 0);"
                )
            }
        }
        func expect(_ bases: [Int]) async throws {
            let rows = bases.flatMap { base in
                agents.enumerated().map { "\(base + $0.offset)|\($0.element)|0" }
            }
            try await until { try cluster.view() == rows }
        }
        try await cluster.withProcess(0) { _ in
            try await cluster.withProcess(1) { _ in
                try await cluster.withAgents(agents[...]) {
                    try await insert(100)
                    try await expect([100])
                    try await cluster.expectEqualReplicas(agents)
                    // A replica that falls behind from here on.
                    try cluster.database.stop(.fast)
                    try cluster.database.run("cp -a data replica")
                    try cluster.database.start()
                    try await cluster.expect(200)
                    try await insert(200)
                    try await expect([100, 200])
                    try await cluster.expectEqualReplicas(agents)
                    try cluster.database.stop(.immediate)
                    try cluster.database.run(
                        "mv data lost && mv replica data && touch data/standby.signal"
                    )
                    try cluster.database.start()
                    try cluster.database.promote()
                    try await cluster.expect(200)
                    try await insert(300)
                    // Those of 200 were acknowledged: they are lost on the clients, too.
                    try await expect([100, 300])
                    try await cluster.expectEqualReplicas(agents)
                }
            }
        }
    }
}
