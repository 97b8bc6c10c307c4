import FoundationEssentials
import Glibc
import PostgreSQL
import PostgreSQLFixtures
import ServerConfig
import ServerFixtures
import Settings
import Testing

@testable import ServerStorage

@Suite(
    "The configured database is reached",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct DatabaseTargetTests {
    private func location(
        _ server: PostgreSQLServer,
        password: PostgreSQLLocation.Password?
    ) -> PostgreSQLLocation {
        PostgreSQLLocation(
            hosts: [.network(name: "127.0.0.1", port: server.port)],
            database: "postgres",
            user: "secret_user",
            password: password,
            tls: .off
        )
    }

    private func connect(_ location: PostgreSQLLocation) throws {
        let target = Target(location, SecretReader(environment: [:]))
        try Connection(target, deadline: .after(.seconds(60))).run("SELECT 1")
    }

    @Test("The password is read again for each connection, from a file or a password file")
    func passwords() async throws {
        let server = try PostgreSQLServer.shared()
        try await withTemporaryDirectory { directory in
            let path = "\(directory)/password"
            func write(_ text: String) throws {
                try Data(text.utf8).write(to: URL(filePath: path))
                chmod(path, 0o600)
            }
            let file = location(server, password: .secret(.file(path: path)))
            try write("wrong-4711\n")
            let refused = #expect(throws: PostgreSQLError.self) { try connect(file) }
            #expect(refused?.sqlState == "28P01")
            #expect(refused?.description.contains("4711") == false)
            try write(PostgreSQLServer.password + "\n")
            try connect(file)

            let passfile = location(server, password: .passfile(path: path))
            try write("127.0.0.1:*:*:secret_user:\(PostgreSQLServer.password)\n")
            try connect(passfile)
            chmod(path, 0o640)
            let open = #expect(throws: PostgreSQLError.self) { try connect(passfile) }
            #expect(open?.message.hasSuffix("can be used by others; chmod 600 \(path)") == true)
        }
    }
}
