import Glibc
import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite(
    "Opening a connection",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct OpeningTests {
    let server: PostgreSQLServer
    let directory: TemporaryDirectory

    init() throws {
        server = try PostgreSQLServer.shared()
        directory = try TemporaryDirectory()
    }

    private func file(_ name: String, _ text: String) throws -> String {
        let path = directory.file(name)
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
        chmod(path, 0o600)
        return path
    }

    private func open(_ target: Target) throws(PostgreSQLError) -> Connection {
        try Connection(target, deadline: .after(.seconds(60)))
    }

    private func failure(_ target: Target) throws -> PostgreSQLError {
        try #require(throws: PostgreSQLError.self) { try open(target) }
    }

    // MARK: Passwords

    @Test("A password is read for each connection", arguments: [true, false])
    func password(isNetwork: Bool) throws {
        var target = server.target(isNetwork ? server.network : server.socket, user: "secret_user")
        target.password = { _ in PostgreSQLServer.password }
        #expect(try open(target).run("SELECT current_user::text").string(0, 0) == "secret_user")
    }

    @Test("A wrong password is refused, at once and without showing it")
    func wrongPassword() throws {
        var target = server.target(user: "secret_user")
        target.hosts.append(.network(name: "127.0.0.1", port: 1))
        target.password = { _ in "wrong-4711" }
        let error = try failure(target)
        #expect(error.sqlState == "28P01")
        #expect(error.condition == .unusable)
        #expect(error.message.contains("password authentication failed for user \"secret_user\""))
        #expect(!"\(error)".contains("4711"))
        #expect(!"\(error)".contains(PostgreSQLServer.password))
    }

    @Test("A missing password is named, and password files do not count")
    func missingPassword() throws {
        let path = try file("pgpass", "*:*:*:*:\(PostgreSQLServer.password)\n")
        setenv("PGPASSFILE", path, 1)
        defer { unsetenv("PGPASSFILE") }
        let error = try failure(server.target(user: "secret_user"))
        #expect(error.message.contains("no password supplied"))
    }

    @Test("A password that cannot be read, or holds U+0000, ends the search")
    func unreadablePassword() throws {
        var target = server.target(user: "secret_user")
        target.password = { _ throws(PasswordUnavailable) in
            throw PasswordUnavailable(reason: "/run/secret: missing")
        }
        #expect(try failure(target).message == "the password cannot be read: /run/secret: missing")
        target.password = { _ in "abc\u{0}def" }
        let error = try failure(target)
        #expect(error.cause == .unavailable)
        #expect(!"\(error)".contains("abc"))
    }

    // MARK: What counts

    @Test("PG* variables and service files change nothing")
    func variables() throws {
        let service = try file(
            "service",
            "[other]\nhost=127.0.0.1\nport=1\ndbname=other\nuser=other\n"
        )
        let variables = [
            "PGHOST": "127.0.0.1", "PGPORT": "1", "PGDATABASE": "other", "PGUSER": "other",
            "PGPASSWORD": "other", "PGSSLMODE": "require", "PGSERVICE": "other",
            "PGSERVICEFILE": service, "PGOPTIONS": "-c statement_timeout=7s",
            "PGREQUIREPEER": "other",
            "PGTARGETSESSIONATTRS": "standby", "PGAPPNAME": "other", "PGCLIENTENCODING": "LATIN1",
            "PGTZ": "Asia/Tokyo", "PGDATESTYLE": "German", "PGSSLROOTCERT": "/nowhere",
            "PGHOSTADDR": "127.0.0.3", "PGCHANNELBINDING": "require", "PGGSSENCMODE": "require",
        ]
        for (name, value) in variables { setenv(name, value, 1) }
        defer { for name in variables.keys { unsetenv(name) } }
        let connection = try open(server.target())
        let rows = try connection.run(
            """
            SELECT current_user::text, current_database()::text, current_setting('timezone'),
                current_setting('datestyle'), current_setting('application_name'),
                current_setting('statement_timeout')
            """
        )
        #expect(try rows.string(0, 0) == "realm")
        #expect(try rows.string(0, 1) == "postgres")
        #expect(try rows.string(0, 2) != "Asia/Tokyo")
        #expect(try !rows.string(0, 3).contains("German"))
        #expect(try rows.string(0, 4) == "realm-server")
        #expect(try rows.string(0, 5) == "30s")
    }

    @Test("A database that is missing is named, and no other host is tried")
    func missingDatabase() throws {
        var target = server.target(database: "missing")
        target.hosts.append(.network(name: "127.0.0.1", port: 1))
        let error = try failure(target)
        #expect(error.sqlState == "3D000")
        #expect(error.condition == .unusable)
    }

    @Test("Names with U+0000, and an empty list of hosts, are refused before anything is sent")
    func impossibleTargets() throws {
        #expect(try failure(server.target(database: "a\u{0}b")).cause == .misuse)
        #expect(try failure(server.target(user: "")).cause == .misuse)
        #expect(try failure(Target(hosts: [], database: "a", user: "b")).cause == .misuse)
    }

    // MARK: Hosts

    @Test("Hosts are tried in order until one answers")
    func hosts() throws {
        var target = server.target()
        target.hosts = [
            .network(name: "127.0.0.1", port: 1), .socket(directory: "/nowhere"),
            .network(name: "no-such-host.invalid"), server.network,
        ]
        let rows = try open(target).run("SELECT host(inet_server_addr())")
        #expect(try rows.string(0, 0) == "127.0.0.1")
        target.hosts.removeLast()
        let error = try failure(target)
        #expect(error.condition == .unreachable)
        #expect(error.message.contains("no-such-host.invalid"))
    }

    @Test("A name is resolved")
    func name() throws {
        let host = Target.Host.network(name: "localhost", port: server.port)
        #expect(try open(server.target(host)).run("SELECT 1::int8").integer(0, 0) == 1)
    }

    @Test("A host that accepts connections and says nothing costs its part of the time only")
    func silentHost() throws {
        let proxy = try FaultProxy(to: server.port)
        defer { proxy.stop() }
        proxy.arm(.silence(.toServer, after: 0))
        var target = server.target(proxy.host)
        target.hosts.append(server.network)
        let start = ContinuousClock.now
        _ = try Connection(target, deadline: .after(.seconds(4)))
        #expect((.milliseconds(1900)...(.seconds(3.9))).contains(.now - start))
        target.hosts.removeLast()
        let error = try #require(throws: PostgreSQLError.self) {
            try Connection(target, deadline: .after(.milliseconds(200)))
        }
        #expect(error.cause == .timedOut)
    }

    @Test("A server that only reads is passed over")
    func readOnly() throws {
        let standby = try PostgreSQLServer()
        try standby.stop(.fast)
        try standby.run(
            "touch data/standby.signal && echo 'hot_standby = on' >>data/postgresql.auto.conf"
        )
        try standby.start()
        var target = standby.target()
        let error = try failure(target)
        #expect(error.condition == .unreachable)
        #expect(error.message.contains("read-only") || error.message.contains("recovery"))
        target.hosts.append(server.network)
        #expect(try open(target).run("SELECT 1::int8").integer(0, 0) == 1)
    }

    // MARK: TLS

    private func isEncrypted(_ connection: Connection) throws -> Bool {
        try connection.run("SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").bool(0, 0)
    }

    @Test("TLS with an authority of one's own, and SCRAM inside")
    func tls() throws {
        var target = server.target(server.network, user: "secret_user")
        target.password = { _ in PostgreSQLServer.password }
        #expect(try !isEncrypted(open(target)))
        target.tls = .verifyFull(file: try file("ca.pem", LoopbackCertificate.certificate))
        let connection = try open(target)
        #expect(try isEncrypted(connection))
        let version = try connection.run(
            "SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
        )
        #expect(["TLSv1.2", "TLSv1.3"].contains(try version.string(0, 0)))
        target.hosts = [.network(name: "localhost", port: server.port)]
        #expect(try isEncrypted(open(target)))
    }

    @Test("A certificate of another host is refused by verify-full, and accepted by verify-ca")
    func otherHostName() throws {
        let authority = try file("ca.pem", LoopbackCertificate.certificate)
        var target = server.target(.network(name: "127.0.0.2", port: server.port))
        target.tls = .verifyFull(file: authority)
        let error = try failure(target)
        #expect(error.condition == .unreachable)
        #expect(error.message.contains("does not match host name \"127.0.0.2\""))
        target.tls = .verifyAuthority(file: authority)
        #expect(try isEncrypted(open(target)))
    }

    @Test("A certificate of an unknown authority is refused")
    func unknownAuthority() throws {
        let authority = try file("ca.pem", StrangerCertificate.certificate)
        for tls in [Target.TLS.verifyFull(file: authority), .verifyAuthority(file: authority)] {
            var target = server.target(server.network)
            target.tls = tls
            #expect(try failure(target).message.contains("certificate verify failed"))
        }
    }

    @Test("A server without TLS is refused where TLS is asked for")
    func withoutTLS() throws {
        let plain = try PostgreSQLServer()
        try plain.run("echo 'ssl = off' >>data/postgresql.auto.conf")
        try plain.stop(.fast)
        try plain.start()
        var target = plain.target(plain.network)
        target.tls = .verifyFull(file: try file("ca.pem", LoopbackCertificate.certificate))
        #expect(try failure(target).message.contains("does not support SSL"))
    }

    @Test("A client proves itself with a certificate; a missing file is named")
    func clientCertificate() throws {
        var target = server.target(server.network, user: "localhost")
        target.tls = .verifyFull(file: try file("ca.pem", LoopbackCertificate.certificate))
        #expect(try failure(target).sqlState?.hasPrefix("28") == true)
        target.clientCertificate = .init(
            certificateFile: try file("client.pem", LoopbackCertificate.certificate),
            keyFile: try file("client.key", LoopbackCertificate.key)
        )
        #expect(try open(target).run("SELECT current_user::text").string(0, 0) == "localhost")
        target.clientCertificate?.keyFile = directory.file("missing.key")
        let error = try failure(target)
        #expect(error.cause == .unavailable)
        #expect(error.message.contains("missing.key"))
    }

    // MARK: Roles

    @Test("An ordinary role may set all options of the start")
    func ordinaryRole() throws {
        #expect(try open(server.target(user: "plain")).run("SELECT 1::int8").integer(0, 0) == 1)
    }

    @Test("Too many connections are reported as such")
    func tooManyConnections() throws {
        let connection = try open(server.target())
        try connection.execute("DROP ROLE IF EXISTS few; CREATE ROLE few LOGIN CONNECTION LIMIT 1")
        let target = server.target(user: "few")
        let first = try open(target)
        #expect(try failure(target).condition == .tooManyConnections)
        first.close()
        try connection.execute("DROP ROLE few")
    }
}
