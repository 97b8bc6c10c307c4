import FoundationEssentials
import Glibc
import ServerFixtures
import Settings
import Testing

@testable import Server
@testable import ServerConfig
@testable import ServerStore

@Suite("server.storage: PostgreSQL")
struct PostgreSQLStorageTests {
    private func read(
        _ storage: String,
        _ files: NamedFiles? = nil
    ) -> (PostgreSQLLocation?, [String]) {
        let text = "server:\n  storage: \(storage)"
        let (configuration, diagnostics) = ServerConfigurationReader.read(
            [ConfigurationSource(file: "x.yaml", bytes: Array(text.utf8))],
            files: files
        )
        guard case .postgreSQL(let location) = configuration?.storage else {
            return (nil, diagnostics.map(\.description))
        }
        return (location, diagnostics.map(\.description))
    }

    @Test("Every key is read")
    func everyKey() {
        let (location, diagnostics) = read(
            """
            {postgresql: {hosts: [db1:5433, "[fd00::1]", 192.0.2.1], database: realm, user: server,
                password: {credential: db}, tls: verify-ca, ca: /a/ca.pem, schema: sync, pool: 4,
                client_certificate: {certificate: /a/c.pem, key: {file: /a/k.pem}}}}
            """
        )
        #expect(diagnostics == [])
        #expect(
            location
                == PostgreSQLLocation(
                    hosts: [
                        .network(name: "db1", port: 5433), .network(name: "fd00::1", port: 5432),
                        .network(name: "192.0.2.1", port: 5432),
                    ],
                    database: "realm",
                    user: "server",
                    password: .secret(.credential(name: "db")),
                    tls: .verifyAuthority,
                    authorities: "/a/ca.pem",
                    clientCertificate: CertificateFiles(certificate: "/a/c.pem", key: "/a/k.pem"),
                    schema: "sync",
                    pool: 4
                )
        )
    }

    @Test("Hosts have TLS unless it is off, sockets have none")
    func defaults() {
        let (network, _) = read("{postgresql: {hosts: [db1], database: r, user: u}}")
        #expect(network?.tls == .verifyFull)
        #expect(network?.authorities == "/etc/ssl/certs/ca-certificates.crt")
        #expect(network?.schema == "realm")
        #expect(network?.pool == 8)
        let (socket, mistakes) = read(
            "{postgresql: {hosts: [\"/run/postgresql:5433\"], database: r, user: u}}"
        )
        #expect(mistakes == [])
        #expect(socket?.hosts == [.socket(directory: "/run/postgresql", port: 5433)])
        #expect(socket?.tls == .off)
        let (open, warnings) = read("{postgresql: {hosts: [db1], database: r, user: u, tls: off}}")
        #expect(open?.tls == .off)
        #expect(
            warnings == [
                "x.yaml:2:25: warning: server.storage.postgresql: the connection to the database "
                    + "can be read and changed on its way; set tls to verify-full, unless the "
                    + "network is the machine's own"
            ]
        )
        let (_, local) = read("{postgresql: {hosts: [127.0.0.1], database: r, user: u, tls: off}}")
        #expect(local == [])
    }

    @Test(
        "The URL means the same as the keys",
        arguments: [
            (
                "postgresql://server@db1:5433,db2/realm?sslmode=verify-full",
                "{hosts: [db1:5433, db2], database: realm, user: server}"
            ),
            (
                "postgres://s%20r@[fd00::1]:1/a%2Fb?sslmode=disable&schema=x",
                "{hosts: [\"[fd00::1]:1\"], database: a/b, user: s r, tls: off, schema: x}"
            ),
            (
                "postgresql://u@/realm?host=/run/postgresql",
                "{hosts: [/run/postgresql], database: realm, user: u}"
            ),
            (
                "postgresql://u@db/r?sslmode=verify-ca&sslrootcert=/a/ca&sslcert=/a/c&sslkey=/a/k"
                    + "&passfile=/a/p",
                "{hosts: [db], database: r, user: u, tls: verify-ca, ca: /a/ca, password: "
                    + "{passfile: /a/p}, client_certificate: {certificate: /a/c, key: {file: /a/k}}}"
            ),
        ]
    )
    func url(url: String, keys: String) {
        let (short, mistakes) = read("\"\(url)\"")
        #expect(mistakes.filter { !$0.contains("warning") } == [])
        #expect(short != nil)
        #expect(short == read("{postgresql: \(keys)}").0)
    }

    @Test(
        "A password in the configuration is refused with its key, and never shown",
        arguments: [
            "postgresql://u:hunter2@db/r", "postgresql://u:hunter2:x@a@db/r",
            "postgresql://u@db/r?password=hunter2", "postgresql://u@db/r?sslpassword=hunter2",
            "postgres://:hunter2@db/r",
        ]
    )
    func passwordInURL(url: String) {
        let (location, diagnostics) = read("\"\(url)\"")
        #expect(location == nil)
        #expect(
            diagnostics == [
                "x.yaml:2:12: error: server.storage: the URL contains a password; remove it, and "
                    + "name the password's place under storage.postgresql.password, as "
                    + "{ file: PATH }"
            ]
        )
    }

    @Test("A plain password among the keys is refused, and never shown")
    func plainPassword() {
        let (location, diagnostics) = read(
            "{postgresql: {hosts: [db], database: r, user: u, password: hunter2}}"
        )
        #expect(location == nil)
        #expect(diagnostics.count == 1)
        #expect(
            diagnostics.first?.hasPrefix(
                "x.yaml:2:71: error: server.storage.postgresql.password: the file must not contain "
                    + "a secret"
            ) == true,
            "\(diagnostics)"
        )
        #expect(diagnostics.first?.contains("{ passfile: PATH }") == true)
        #expect(!diagnostics.joined().contains("hunter2"))
    }

    @Test(
        "Mistakes are reported with their keys",
        arguments: [
            ("{postgresql: {}}", "hosts: is missing"),
            ("{postgresql: {hosts: [], database: r, user: u}}", "hosts: is an empty list"),
            ("{postgresql: {hosts: [\"db:0\"], database: r, user: u}}", "hosts[0]: \"db:0\""),
            ("{postgresql: {hosts: [db], database: r, user: u, pool: 0}}", "pool: "),
            ("{postgresql: {hosts: [db], database: r, user: u, schema: pg_x}}", "schema: "),
            ("{postgresql: {hosts: [db], database: r, user: u, tls: require}}", "tls: \"require\""),
            ("{postgresql: {hosts: [/s], database: r, user: u, tls: verify-ca}}", ": tls does not"),
            (
                "{postgresql: {hosts: [db], database: r, user: u, tls: off, ca: /a}}",
                ": ca does not go"
            ),
            (
                "{postgresql: {hosts: [/s], database: r, user: u, client_certificate: "
                    + "{certificate: /a, key: {file: /b}}}}", "client_certificate does not go"
            ),
            ("postgresql://db/r", "names no user"), ("postgresql://u@db", "names no database"),
            ("postgresql://u@/r", "names no host"),
            ("postgresql://u@db/r?sslmode=require", "sslmode"),
            ("postgresql://u@db/r?x=1", "unknown or malformed parameter"),
            ("postgresql://u@db%2/r", "invalid host"),
            ("postgresql://u@db/r?sslcert=/a", "only one of sslcert and sslkey"),
            ("mysql://u@db/r", "names no store"),
        ]
    )
    func mistakes(storage: String, message: String) {
        let (location, diagnostics) = read(storage)
        #expect(location == nil)
        #expect(diagnostics.contains { $0.contains(message) }, "\(diagnostics)")
        #expect(diagnostics.allSatisfy { $0.contains("error: server.storage") }, "\(diagnostics)")
    }

    @Test("Files are checked: authorities, password, certificate")
    func files() async throws {
        try await withTemporaryDirectory { directory in
            let password = "\(directory)/password"
            try Data("hunter2\n".utf8).write(to: URL(filePath: password))
            let files = NamedFiles(SecretReader(environment: [:]))
            let (_, missing) = read(
                "{postgresql: {hosts: [db], database: r, user: u, ca: \(directory)/none, "
                    + "password: {file: \(directory)/nothing}}}",
                files
            )
            #expect(missing.contains { $0.contains("\(directory)/none cannot be read") })
            #expect(
                missing.contains { $0.contains("{ file: \(directory)/nothing } cannot be read") }
            )
            chmod(password, 0o644)
            let (location, warnings) = read(
                "{postgresql: {hosts: [db], database: r, user: u, ca: \(password), "
                    + "password: {file: \(password)}}}",
                files
            )
            #expect(location != nil)
            #expect(warnings.map { $0.contains("can be read by all users") } == [true])
            #expect(!warnings.joined().contains("hunter2"))
        }
    }

    @Test("The admin socket of a server on PostgreSQL is at the packaged path")
    func adminSocket() {
        let location = PostgreSQLLocation(
            hosts: [.network(name: "db", port: 5432)],
            database: "r",
            user: "u"
        )
        let configuration = ServerConfiguration(storage: .postgreSQL(location), apps: [])
        #expect(configuration.adminSocketPath == "/run/realm-server/admin.sock")
        #expect(configuration.storage.description == "postgresql://u@db:5432/r")
    }
}
