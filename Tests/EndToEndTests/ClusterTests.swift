import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import Subprocess
import TestSupport
import Testing

/// Two processes of the server on one database, behind a balancer, and agents that write.
@Suite(
    "Two processes and a database",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct ClusterTests {
    private static let agents = ["north", "east", "west"]

    @Test(
        "One process is killed, the database restarts, a user is disabled: replicas are equal"
    )
    func survival() async throws {
        let cluster = try ClusterDeployment()
        defer { cluster.remove() }
        let deployment = cluster.deployment
        for agent in Self.agents { try deployment.configure(agent, port: cluster.balancer) }
        // This one is a client of the first process.
        try deployment.configure("locked", user: .emailPassword, port: cluster.ports[0])
        try await cluster.withProcess(1) { _ in
            let second = Task {
                try await deployment.withAgent("north") { _ in
                    try await deployment.withAgent("east") { _ in
                        try await deployment.withAgent("west") { _ in
                            try await self.endure(cluster)
                        }
                    }
                }
            }
            try await second.value
        }
    }

    private func endure(_ cluster: ClusterDeployment) async throws {
        let deployment = cluster.deployment
        try await cluster.withProcess(0) { first in
            try await deployment.withAgent("locked") { _ in
                try await write(cluster, 0, Self.agents + ["locked"])
                try await settle(cluster, Self.agents + ["locked"], rows: 40)
                // Told to the second process, whose client it is not.
                try await lockOut(cluster)
                try await write(cluster, 100, Self.agents)
                try await settle(cluster, Self.agents, rows: 70)
                #expect(try await deployment.count("locked") == 40)
            }
            first.signal(.kill)
        }
        try await write(cluster, 200, Self.agents)
        try await settle(cluster, Self.agents, rows: 100)
        try await cluster.withProcess(0) { _ in
            try cluster.database.stop(.immediate)
            try await write(cluster, 300, Self.agents)
            for port in cluster.ports {
                let isAway = try await eventually { try await cluster.ready(port) == 503 }
                #expect(isAway)
            }
            try cluster.database.start()
            for port in cluster.ports {
                let isBack = try await eventually { try await cluster.ready(port) == 200 }
                #expect(isBack)
            }
            try await write(cluster, 400, Self.agents)
            try await settle(cluster, Self.agents, rows: 160)
            try await compare(cluster)
        }
        for agent in Self.agents {
            let log = deployment.log(agent)
            #expect(!log.contains("client reset"), "\(agent): \(log)")
        }
    }

    /// Ten rows by each agent.
    private func write(
        _ cluster: ClusterDeployment,
        _ base: Int,
        _ agents: [String]
    ) async throws {
        for (position, agent) in agents.enumerated() {
            let isOpen = try await eventually {
                let file = cluster.deployment.file(agent)
                return try await Programs.attemptSQL(file, "SELECT 1 FROM \"Item\";").status == 0
            }
            try #require(isOpen, "\(agent) does not open: \(cluster.deployment.log(agent))")
            let rows = (0..<10).map { "(\(base + position * 10 + $0), '\(agent)')" }
            try await Programs.sqlite3(
                cluster.deployment.file(agent),
                "INSERT INTO \"Item\" (_id, owner) VALUES \(rows.joined(separator: ", "));"
            )
        }
    }

    private func settle(
        _ cluster: ClusterDeployment,
        _ agents: [String],
        rows: Int
    ) async throws {
        for agent in agents {
            let isThere = try await eventually {
                try await cluster.deployment.count(agent) == rows
            }
            let count = try await cluster.deployment.count(agent)
            try #require(
                isThere,
                "\(agent) has \(count) of \(rows) rows: \(cluster.deployment.log(agent))"
            )
        }
    }

    /// Disables the user of "locked" at the second process.
    private func lockOut(_ cluster: ClusterDeployment) async throws {
        let list = try await cluster.command(
            1,
            ["users", "list", "--app", Deployment.app, "--json"]
        )
        struct User: Decodable {
            let id: String
            let identities: [Identity]

            struct Identity: Decodable {
                let provider: String
            }
        }
        let users = try JSONDecoder().decode([User].self, from: Data(list.output.utf8))
        let user = try #require(
            users.first { $0.identities.contains { $0.provider == "local-userpass" } },
            "\(list.output)"
        )
        // The other process's are as of some seconds ago.
        let isCounted = try await eventually { try await sessions(cluster) == 4 }
        try #require(isCounted)
        let disabled = try await cluster.command(
            1,
            ["users", "disable", "--app", Deployment.app, user.id]
        )
        #expect(disabled.status == 0, "\(disabled.errors)")
        let isOut = try await eventually { try await sessions(cluster) == 3 }
        #expect(isOut)
    }

    /// Those of all processes, as the second one knows them.
    private func sessions(_ cluster: ClusterDeployment) async throws -> Int {
        struct Report: Decodable {
            let sessions: Int
        }
        let status = try await cluster.command(
            1,
            ["sync", "status", "--app", Deployment.app, "--json"]
        )
        let report = try JSONDecoder().decode(Report.self, from: Data(status.output.utf8))
        return report.sessions
    }

    /// The replicas with each other, and with the documents.
    private func compare(_ cluster: ClusterDeployment) async throws {
        let rows = try await cluster.deployment.rows(Self.agents[0])
        for agent in Self.agents { #expect(try await cluster.deployment.rows(agent) == rows) }
        let connection = try Connection(
            cluster.database.target(database: "realm"),
            deadline: .after(.seconds(60))
        )
        let documents = try connection.run(
            """
            SELECT document->>'_id', document->>'owner' FROM realm.object
            WHERE class = 'Item' ORDER BY (document->>'_id')::int8
            """
        )
        #expect(documents.count == 160)
        let lines = rows.split(separator: "\n")
        for (row, line) in lines.enumerated() where row < documents.count {
            let expected = try "\(documents.string(row, 0))|\(documents.string(row, 1))|"
            #expect(line.hasPrefix(expected))
        }
    }
}

/// The processes of one server, each with a port and an admin socket of its own.
struct ClusterDeployment {
    let deployment: Deployment
    let database: PostgreSQLServer
    let ports: [Int]
    private let proxy: FaultProxy

    /// The port of the balancer.
    var balancer: Int { Int(proxy.port) }

    init() throws {
        deployment = try Deployment()
        database = try PostgreSQLServer()
        try Connection(database.target(), deadline: .after(.seconds(60)))
            .execute("CREATE DATABASE realm")
        ports = [Deployment.unusedPort(), Deployment.unusedPort()]
        proxy = try FaultProxy(toAnyOf: ports.map { UInt16($0) })
        for (position, port) in ports.enumerated() {
            try deployment.write(
                "server-\(position).yaml",
                """
                version: 1
                server:
                  listen: 127.0.0.1:\(port)
                  admin_socket: \(deployment.directory)/admin-\(position).sock
                  storage: "postgresql://realm@127.0.0.1:\(database.port)/realm?sslmode=disable"
                  log: { level: info, output: stderr }
                apps:
                  \(Deployment.app):
                    sync: { mode: partition, partition_key: site, partition_type: string }
                    development_mode: true
                    providers: { anonymous: true, email_password: { auto_confirm: true } }
                """
            )
        }
    }

    func remove() {
        proxy.stop()
        deployment.remove()
    }

    /// Runs one process while the body does.
    func withProcess<Result: Sendable>(
        _ position: Int,
        _ body: (Deployment.Daemon) async throws -> Result
    ) async throws -> Result {
        try await deployment.withDaemon(
            "realm-server",
            ["serve", "--config", configuration(position)],
            log: "server-\(position)",
            isUp: { try await ready(ports[position]) == 200 },
            body
        )
    }

    func command(_ position: Int, _ arguments: [String]) async throws -> Programs.Outcome {
        try await Programs.run(
            "realm-server",
            arguments + ["--config", configuration(position)]
        )
    }

    func configuration(_ position: Int) -> String {
        "\(deployment.directory)/server-\(position).yaml"
    }

    /// The status of `GET /ready`; 0 without a response.
    func ready(_ port: Int) async throws -> Int {
        let outcome = try await Programs.run(
            "curl",
            ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(port)/ready"]
        )
        return Int(outcome.output) ?? 0
    }
}
