internal import FoundationEssentials
internal import Glibc
package import PostgreSQL
internal import TestSupport

/// A PostgreSQL server of the tests, without syncs to the disk.
///
/// Names and rights: `realm` is the superuser; `secret_user` logs in with `password`; the user
/// `localhost` needs the certificate of `LoopbackCertificate`, which is the server's own, too. All
/// others may connect without a password.
package final class PostgreSQLServer: Sendable {
    private let supervisor: Supervisor
    private let programs: String
    /// The TCP port, on 127.0.0.1 and 127.0.0.2; also in the name of the socket.
    package let port: UInt16

    package static let password = "correct horse, battery staple"

    /// The server of this run: made at first use, stopped with the process.
    package static func shared() throws -> PostgreSQLServer {
        try made.get()
    }

    private static let made = Result { try PostgreSQLServer() }

    /// A server for one test that stops or damages it; it goes with the value.
    package init() throws {
        guard let programs = PostgreSQLInstallation.programs else {
            throw FixtureFailure(PostgreSQLInstallation.absence)
        }
        self.programs = programs
        supervisor = try Supervisor(programs: programs)
        port = try LoopbackSocket.freePort()
        try run(
            """
            '\(programs)/initdb' -D data -U realm --auth=trust --no-sync --no-instructions \
            --locale=C.UTF-8 -E UTF8
            """
        )
        try write(LoopbackCertificate.certificate, to: "data/server.crt")
        try write(LoopbackCertificate.key, to: "data/server.key")
        try write(Self.access, to: "data/pg_hba.conf")
        try write(configuration, to: "data/postgresql.auto.conf")
        try start()
        let connection = try Connection(target(), deadline: .after(.seconds(60)))
        try connection.execute(
            "CREATE ROLE secret_user LOGIN PASSWORD '\(Self.password)'; CREATE ROLE localhost LOGIN; "
                + "CREATE ROLE plain LOGIN"
        )
    }

    package func start() throws {
        try run("'\(programs)/pg_ctl' -D data -w -s -l server.log start")
    }

    package enum Stop: String, Sendable {
        /// Ends all connections, then writes a checkpoint.
        case fast
        /// Like a crash: the next start recovers.
        case immediate
    }

    package func stop(_ mode: Stop) throws {
        try run("'\(programs)/pg_ctl' -D data -w -s -m \(mode) stop")
    }

    /// Ends the recovery of a standby: the server becomes writable, with a new timeline.
    package func promote() throws {
        try run("'\(programs)/pg_ctl' -D data -w -s promote")
    }

    /// Runs a shell command in the server's folder, as the server's user.
    package func run(_ command: String) throws {
        guard try supervisor.run(command) else {
            throw FixtureFailure("failed: \(command)\n\(log())")
        }
    }

    /// A path in the server's folder.
    package func file(_ name: String) -> String {
        supervisor.folder + "/" + name
    }

    package var socket: Target.Host {
        .socket(directory: supervisor.folder, port: port)
    }

    package var network: Target.Host {
        .network(name: "127.0.0.1", port: port)
    }

    package func target(
        _ host: Target.Host? = nil,
        database: String = "postgres",
        user: String = "realm"
    ) -> Target {
        Target(hosts: [host ?? socket], database: database, user: user)
    }

    // MARK: Files

    private static let access = """
        local all secret_user scram-sha-256
        local all all trust
        host all secret_user all scram-sha-256
        hostssl all localhost all cert
        host all all all trust
        """

    private var configuration: String {
        """
        listen_addresses = '127.0.0.1,127.0.0.2'
        port = \(port)
        unix_socket_directories = '\(supervisor.folder)'
        max_connections = 100
        shared_buffers = '64MB'
        fsync = off
        full_page_writes = off
        log_min_messages = 'fatal'
        ssl = on
        ssl_ca_file = 'server.crt'
        """
    }

    private func write(_ text: String, to name: String) throws {
        // A command is one line: printf makes several of it.
        let line = text.replacing("'", with: "'\\''").replacing("\n", with: "\\n")
        try run("printf '%b\\n' '\(line)' >\(name) && chmod 600 \(name)")
    }

    private func log() -> String {
        let logs = ["log", "server.log"].map { name in
            (try? String(contentsOfFile: file(name), encoding: .utf8)) ?? ""
        }
        return logs.map { $0.suffix(2000) }.joined()
    }
}
