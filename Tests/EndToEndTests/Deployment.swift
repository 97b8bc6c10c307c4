import FoundationEssentials
import PostgreSQLFixtures
import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// One server and any number of agents in a directory of their own, as real processes.
struct Deployment {
    let directory: String
    let port: Int
    static let app = "test-app"

    init() throws {
        let name = "e2e-\(UInt32.random(in: 0...UInt32.max))"
        self.directory = FileManager.default.temporaryDirectory.path + "/" + name
        try FileManager.default.createDirectory(
            atPath: directory,
            withIntermediateDirectories: true
        )
        self.port = unusedPort()
        try write(
            "server.yaml",
            """
            version: 1
            server:
              listen: 127.0.0.1:\(port)
              storage: sqlite:\(directory)/server/server.sqlite
              log: { level: info, output: stderr }
            apps:
              \(Self.app):
                sync: { mode: partition, partition_key: site, partition_type: string }
                development_mode: true
                providers: { anonymous: true, email_password: { auto_confirm: true } }
            """
        )
        try write(
            "schema.yaml",
            """
            classes:
              Item:
                primary_key: _id
                properties:
                  _id: int
                  owner: string
                  note: string?
                  amount: int?
                  weight: double?
                  seen: timestamp?
            """
        )
        try write("password", "correct horse\n")
    }

    func remove() {
        try? FileManager.default.removeItem(atPath: directory)
    }

    func write(_ name: String, _ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: "\(directory)/\(name)"))
    }

    /// Makes the server keep its data in PostgreSQL.
    func store(in database: TestDatabase) throws {
        let text = try String(contentsOfFile: "\(directory)/server.yaml", encoding: .utf8)
        let target = "realm@127.0.0.1:\(database.server.port)/\(database.name)"
        try write(
            "server.yaml",
            text.replacing(
                "sqlite:\(directory)/server/server.sqlite",
                with: "\"postgresql://\(target)?sslmode=disable\""
            )
        )
    }

    func log(_ name: String) -> String {
        let data = FileManager.default.contents(atPath: "\(directory)/\(name).log") ?? Data()
        return String(decoding: data, as: UTF8.self)
    }

    // MARK: Agents

    enum User: String {
        case anonymous = "provider: anonymous"
        case emailPassword =
            "provider: email-password, email: user@example.com, password: { file: PASSWORD }, register: true"
    }

    /// Writes the configuration of an agent.
    func configure(
        _ agent: String,
        user: User = .anonymous,
        partition: String = "main",
        port: Int? = nil
    ) throws {
        let user = user.rawValue.replacing("PASSWORD", with: "\(directory)/password")
        try write(
            "\(agent).yaml",
            """
            version: 1
            agent:
              data_directory: \(directory)/\(agent)
              control_socket: \(directory)/\(agent).sock
              log: { level: info, output: stderr }
            apps:
              app:
                app_id: \(Self.app)
                base_url: http://127.0.0.1:\(port ?? self.port)
                backoff: { initial: 100ms, maximum: 1s }
            users:
              \(agent): { app: app, \(user) }
            realms:
              stock:
                user: \(agent)
                partition: { string: "\(partition)" }
                schema: \(directory)/schema.yaml
            """
        )
    }

    /// Lets a configured agent log in at the server, and sync elsewhere.
    func lead(_ agent: String, to port: Int) throws {
        let base = "base_url: http://127.0.0.1:\(self.port)\n"
        let location =
            "location: { http: \"http://127.0.0.1:\(self.port)\", "
            + "ws: \"ws://127.0.0.1:\(port)\" }"
        let text = try String(contentsOfFile: "\(directory)/\(agent).yaml", encoding: .utf8)
        try write("\(agent).yaml", text.replacing(base, with: "\(base)    \(location)\n"))
    }

    func file(_ agent: String) -> String {
        "\(directory)/\(agent)/realms/stock/stock.sqlite"
    }

    func rows(_ agent: String) async throws -> String {
        try await Programs.sqlite3(file(agent), "SELECT * FROM \"Item\" ORDER BY _id;")
    }

    func count(_ agent: String, where condition: String = "1") async throws -> Int {
        let text = try await Programs.sqlite3(
            file(agent),
            "SELECT count(*) FROM \"Item\" WHERE \(condition);"
        )
        return Int(text.filter { !$0.isWhitespace }) ?? -1
    }

    /// Syncs now, through the running agent or without one.
    @discardableResult
    func sync(_ agent: String, timeout: String = "180s") async throws -> Programs.Outcome {
        try await Programs.run(
            "realm-agent",
            ["sync", "--wait", "--timeout", timeout, "--config", "\(directory)/\(agent).yaml"]
        )
    }

    // MARK: Processes

    /// A daemon that runs while a body does.
    struct Daemon: Sendable {
        let signal: @Sendable (Signal) -> Void
        let pid: Int32
    }

    /// Runs the server while the body does, then stops it with SIGTERM.
    func withServer<Result: Sendable>(
        through wrapper: [String] = [],
        _ body: (Daemon) async throws -> Result
    ) async throws -> Result {
        try await withDaemon(
            "realm-server",
            ["serve", "--config", "\(directory)/server.yaml"],
            through: wrapper,
            log: "server",
            isUp: {
                try await Programs.run(
                    "bash",
                    ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port)"]
                ).status == 0
            },
            body
        )
    }

    /// Runs an agent while the body does, then stops it with SIGTERM.
    func withAgent<Result: Sendable>(
        _ agent: String,
        environment: [Environment.Key: String?] = [:],
        through wrapper: [String] = [],
        _ body: (Daemon) async throws -> Result
    ) async throws -> Result {
        try await withDaemon(
            "realm-agent",
            ["run", "--config", "\(directory)/\(agent).yaml"],
            environment: environment,
            through: wrapper,
            log: agent,
            isUp: {
                try await Programs.run(
                    "realm-agent",
                    ["status", "--config", "\(directory)/\(agent).yaml"]
                ).status == 0
            },
            body
        )
    }

    /// Runs a program while the body does, then stops it with SIGTERM; `through` is a command that
    /// executes the one it is given, such as `nsenter` or `env`.
    func withDaemon<Result: Sendable>(
        _ program: String,
        _ arguments: [String],
        environment: [Environment.Key: String?] = [:],
        through wrapper: [String] = [],
        log: String,
        isUp: () async throws -> Bool,
        _ body: (Daemon) async throws -> Result
    ) async throws -> Result {
        let file = try FilePath("\(directory)/\(log).log").openedForAppending()
        let wrapped = wrapper + ["\(Programs.directory)/\(program)"] + arguments
        let result = try await Subprocess.run(
            wrapper.first.map { .path(FilePath($0)) } ?? Programs.executable(program),
            arguments: Arguments(wrapper.isEmpty ? arguments : Array(wrapped.dropFirst())),
            environment: .inherit.updating(environment),
            input: .none,
            output: .discarded,
            error: .fileDescriptor(file, closeAfterSpawningProcess: true)
        ) { execution in
            let daemon = Daemon(
                signal: { try? execution.send(signal: $0) },
                pid: execution.processIdentifier.value
            )
            defer { daemon.signal(.terminate) }
            let isRunning = try await eventually(isUp)
            #expect(isRunning, "\(program) does not come up: \(self.log(log))")
            return try await body(daemon)
        }
        return result.closureResult
    }
}
