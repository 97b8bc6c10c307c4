import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

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
        ports = [unusedPort(), unusedPort()]
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
                    sql: { schema: reports }
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

    /// The status of `GET /readyz`; 0 without a response.
    func ready(_ port: Int) async throws -> Int {
        let outcome = try await Programs.run(
            "curl",
            ["-s", "-o", "/dev/null", "-w", "%{http_code}", "http://127.0.0.1:\(port)/readyz"]
        )
        return Int(outcome.output) ?? 0
    }

    // MARK: Users

    /// Disables the only user with a password at a process.
    func disableUser(at position: Int) async throws {
        struct User: Decodable {
            let id: String
            let identities: [Identity]

            struct Identity: Decodable {
                let provider: String
            }
        }
        let list = try await command(
            position,
            ["users", "list", "--app", Deployment.app, "--json"]
        )
        let users = try JSONDecoder().decode([User].self, from: Data(list.output.utf8))
        let user = try #require(
            users.first { $0.identities.contains { $0.provider == "local-userpass" } },
            "\(list.output)"
        )
        let disabled = try await command(
            position,
            ["users", "disable", "--app", Deployment.app, user.id]
        )
        #expect(disabled.status == 0, "\(disabled.errors)")
    }

    // MARK: Replicas

    /// Waits until all agents have the rows of the app's typed view, which a backend team would query.
    func expectEqualReplicas(_ agents: [String]) async throws {
        for agent in agents {
            let isEqual = try await eventually {
                try await rows(deployment.file(agent)) == view()
            }
            try #require(isEqual, "\(agent) differs: \(deployment.log(agent).suffix(4000))")
        }
    }

    private func rows(_ file: String) async throws -> [String] {
        let text = try await Programs.sqlite3(
            file,
            "SELECT _id || '|' || owner || '|' || coalesce(amount, '-') FROM \"Item\" ORDER BY _id;"
        )
        return text.split(separator: "\n").map(String.init)
    }

    /// The rows of `reports."Item"`, as its reader sees them.
    func view() throws -> [String] {
        let connection = try Connection(
            database.target(database: "realm"),
            deadline: .after(.seconds(60))
        )
        do {
            let rows = try connection.run(
                """
                SELECT _id || '|' || owner || '|' || coalesce(amount::text, '-')
                FROM reports."Item" ORDER BY _id
                """
            )
            return try (0..<rows.count).map { try rows.string($0, 0) }
        } catch let error as PostgreSQLError where error.sqlState == "42P01" {
            // The view follows its class within 5 seconds.
            return []
        }
    }

    /// Runs agents while the body does.
    func withAgents(
        _ agents: ArraySlice<String>,
        _ body: () async throws -> Void
    ) async throws {
        guard let first = agents.first else { return try await body() }
        try await deployment.withAgent(first) { _ in
            let isOpen = try await eventually {
                let file = deployment.file(first)
                return try await Programs.attemptSQL(file, "SELECT 1 FROM \"Item\";").status == 0
            }
            try #require(isOpen, "\(first) does not open: \(deployment.log(first))")
            try await withAgents(agents.dropFirst(), body)
        }
    }

    /// Whether a process is ready, after a while.
    func expect(_ status: Int) async throws {
        for port in ports {
            let isSo = try await eventually { try await ready(port) == status }
            #expect(isSo)
        }
    }
}
