import Changesets
import FoundationEssentials
import Glibc
import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import Schemas
import Scopes
import ServerConfig
import ServerStore
import Settings
import TestSupport
import Testing

@testable import ServerStorage

/// docs/scaling.md: its configurations are valid, and its statements work.
@Suite(
    "The page on several processes",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct ScalingPageTests {
    private let page: String

    init() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        page = try String(contentsOf: root.appending(path: "docs/scaling.md"), encoding: .utf8)
    }

    /// The blocks of a language, in order.
    private func blocks(_ language: String) -> [String] {
        page.split(separator: "```\(language)\n").dropFirst().compactMap { rest in
            rest.split(separator: "\n```", maxSplits: 1).first.map(String.init)
        }
    }

    private func block(_ language: String) throws -> String {
        try #require(blocks(language).first)
    }

    @Test("The configuration is valid, and names a database")
    func configuration() throws {
        let text = try block("yaml")
        let (configuration, diagnostics) = ServerConfigurationReader.read([
            ConfigurationSource(file: "x.yaml", bytes: Array(text.utf8))
        ])
        #expect(diagnostics.map(\.description) == [])
        guard case .postgreSQL(let location) = configuration?.storage else {
            Issue.record("the store is not on PostgreSQL")
            return
        }
        #expect(location.tls == .verifyFull)
    }

    @Test("The statements make a database that the server can use, and that can be dumped")
    func database() async throws {
        let server = try PostgreSQLServer()
        let statements = blocks("sql")
        #expect(statements.count == 2)
        try Data(statements.joined(separator: "\n").utf8).write(
            to: URL(filePath: server.file("setup.sql"))
        )
        chmod(server.file("setup.sql"), 0o644)
        let options = "-h \(server.file(".")) -p \(server.port) -U realm"
        try server.run("psql \(options) -v ON_ERROR_STOP=1 -f setup.sql postgres >psql.log 2>&1")
        let location = PostgreSQLLocation(
            hosts: [.socket(directory: server.file("."), port: server.port)],
            database: "realm",
            user: "realm_server"
        )
        let secrets = SecretReader(environment: [:])
        let store = try await PostgreSQLStore.open(Target(location, secrets))
        // The role may make views, and their readers may read them.
        let app = try #require(AppID("shop"))
        try await store.write(.partition(app, .null)) { transaction in
            var schema = RealmSchema()
            let key = PrimaryKeySchema(name: "_id", type: .int, isNullable: false)
            schema.update(ClassSchema(name: "Order", kind: .topLevel(key)))
            try transaction.putSchema(schema, of: try transaction.makeFile(of: app, .null).id)
        }
        #expect(try await AppViews(of: store).refresh(app, in: "app_shop"))
        try server.run(
            "psql -h \(server.file(".")) -p \(server.port) -U reports -c 'TABLE app_shop.\"Order\"' realm"
        )
        try server.run(
            "! psql -h \(server.file(".")) -p \(server.port) -U reports -c 'TABLE realm.object' realm"
        )
        await store.close()
        let findings = DatabaseCheck.run(location, secrets) { 0 }
        for subject in ["reach", "encoding", "store", "rights", "connections"] {
            #expect(findings.first { $0.subject == subject }?.level == .good, "\(findings)")
        }
        let dump = try #require(
            page.split(separator: "```\n").first { $0.hasPrefix("pg_dump") }
        )
        let command = dump.replacing("\\\n", with: " ").replacing(
            "pg_dump",
            with: "pg_dump \(options)"
        )
        try server.run(String(command.prefix { $0 != "\n" }))
        try server.run("pg_restore --list realm.dump | grep -q 'TABLE DATA realm history'")
        try server.run("! pg_restore --list realm.dump | grep -q 'TABLE DATA realm attempt'")
    }

    @Test(
        "HAProxy accepts its configuration",
        .enabled(if: access("/usr/sbin/haproxy", X_OK) == 0, "haproxy is not installed")
    )
    func haproxy() throws {
        let server = try PostgreSQLServer.shared()
        let text = try block("haproxy").replacing("/etc/haproxy", with: server.file("."))
        try write(text + "\n", "haproxy.cfg", server)
        let pem = "\(LoopbackCertificate.certificate)\n\(LoopbackCertificate.key)\n"
        try write(pem, "sync.pem", server)
        try server.run("/usr/sbin/haproxy -c -q -f haproxy.cfg 2>>server.log")
    }

    @Test(
        "nginx accepts its configuration",
        .enabled(if: access("/usr/sbin/nginx", X_OK) == 0, "nginx is not installed")
    )
    func nginx() throws {
        let server = try PostgreSQLServer.shared()
        let text = try block("nginx").replacing("/etc/nginx", with: server.file("."))
            .replacing("listen 443", with: "listen \(server.port)")
        try write(
            """
            pid \(server.file("nginx.pid"));
            error_log \(server.file("nginx.log"));
            events {}
            http {
                client_body_temp_path \(server.file("body"));
                proxy_temp_path \(server.file("proxy"));
                fastcgi_temp_path \(server.file("fastcgi"));
                uwsgi_temp_path \(server.file("uwsgi"));
                scgi_temp_path \(server.file("scgi"));
            \(text)
            }

            """,
            "nginx.conf",
            server
        )
        try write(LoopbackCertificate.certificate, "sync.pem", server)
        try write(LoopbackCertificate.key, "sync.key", server)
        try server.run("/usr/sbin/nginx -t -q -c \(server.file("nginx.conf")) 2>>server.log")
    }

    private func write(_ text: String, _ name: String, _ server: PostgreSQLServer) throws {
        try Data(text.utf8).write(to: URL(filePath: server.file(name)))
        chmod(server.file(name), 0o644)
    }
}
