import PostgreSQL
import PostgreSQLFixtures
import PostgreSQLServerStore
import ServerConfig
import ServerFixtures
import Testing

@testable import ServerStorage

@Suite(
    "check --connect",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct DatabaseCheckTests {
    private func location(
        _ database: TestDatabase,
        user: String = "realm",
        schema: String = "realm",
        pool: Int = 8
    ) -> PostgreSQLLocation {
        PostgreSQLLocation(
            hosts: [.network(name: "127.0.0.1", port: database.server.port)],
            database: database.name,
            user: user,
            tls: .off,
            schema: schema,
            pool: pool
        )
    }

    private func check(
        _ location: PostgreSQLLocation,
        now: Int64? = nil
    ) -> [String: DatabaseFinding] {
        let findings = DatabaseCheck.run(location, SecretReader(environment: [:])) {
            now ?? WallClockFixture.now()
        }
        return Dictionary(findings.map { ($0.subject, $0) }) { first, _ in first }
    }

    @Test("An empty database: what is good, and what would not survive a failover")
    func empty() throws {
        let database = try TestDatabase()
        let findings = check(location(database))
        #expect(findings["reach"]?.level == .good)
        #expect(findings["version"]?.text.hasPrefix("PostgreSQL 1") == true)
        #expect(findings["encoding"]?.text == "UTF8")
        #expect(
            findings["store"]?.text == "schema realm has no tables; the first start makes them"
        )
        #expect(findings["rights"]?.text == "role realm may make the tables")
        #expect(findings["standbys"]?.level == .warning)
        // The server of tests has fsync off, and its role is a superuser.
        #expect(findings["durability"]?.level == .problem)
        #expect(findings["role"]?.level == .warning)
        #expect(findings["tls"]?.text == "none, the database is on this machine")
        #expect(findings["clock"]?.level == .good)
        // Nothing was made.
        let connection = try database.connect()
        let schemas = try connection.run(
            "SELECT count(*) FROM pg_namespace WHERE nspname = 'realm'"
        )
        #expect(try schemas.integer(0, 0) == 0)
    }

    @Test("Rights: missing for the schema, the tables, or a table")
    func rights() throws {
        let database = try TestDatabase()
        #expect(
            check(location(database, user: "plain"))["rights"]?.description
                == "PROBLEM  rights  role plain may not make schema realm; CREATE SCHEMA realm "
                + "AUTHORIZATION plain"
        )
        let connection = try database.connect()
        try connection.execute("CREATE SCHEMA realm")
        #expect(
            check(location(database, user: "plain"))["rights"]?.text.contains("ALTER SCHEMA realm")
                == true
        )
        try connection.execute("DROP SCHEMA realm")
        var target = database.target()
        target.schema = "realm"
        let found = try PostgreSQLLayout.prepare(
            Connection(target, deadline: .after(.seconds(60))),
            schema: "realm"
        )
        try connection.execute(
            """
            GRANT USAGE ON SCHEMA realm TO plain;
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA realm TO plain;
            REVOKE DELETE ON realm.history FROM plain;
            REVOKE SELECT ON realm.object FROM plain
            """
        )
        let findings = check(location(database, user: "plain"))
        #expect(findings["store"]?.text == "store \(found.storeID), layout \(found.version)")
        #expect(findings["rights"]?.level == .problem)
        #expect(
            findings["rights"]?.text.hasPrefix(
                "role plain may not read and write history, object; GRANT SELECT"
            ) == true
        )
        try connection.execute(
            "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA realm TO plain"
        )
        #expect(check(location(database, user: "plain"))["rights"]?.level == .good)
    }

    @Test("Encoding, connections, clock, other tables")
    func others() throws {
        let latin = try TestDatabase(
            options: "ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
        )
        #expect(check(location(latin))["encoding"]?.level == .problem)
        let database = try TestDatabase()
        let connections = try #require(check(location(database, pool: 98))["connections"])
        #expect(connections.level == .problem)
        #expect(connections.text.contains("raise max_connections, or lower pool"))
        let late = WallClockFixture.now() - 61_500
        #expect(check(location(database), now: late)["clock"]?.level == .problem)
        #expect(check(location(database), now: late + 58_000)["clock"]?.level == .warning)
        try database.connect().execute("CREATE SCHEMA realm; CREATE TABLE realm.other (a int)")
        let store = check(location(database))["store"]
        #expect(store?.level == .problem)
        #expect(store?.text.contains("but not a store of realm-server") == true)
    }

    @Test("A server that is away, or refuses")
    func away() throws {
        let database = try TestDatabase()
        var location = location(database, user: "nobody_knows_me")
        let refused = check(location)
        #expect(Array(refused.keys) == ["reach"])
        #expect(refused["reach"]?.text.contains("correct user, password") == true)
        location.database = "no_such_database"
        location.user = "realm"
        #expect(check(location)["reach"]?.text.contains("create the database") == true)
        location.hosts = [.socket(directory: "/nowhere", port: 5432)]
        #expect(check(location)["reach"]?.level == .problem)
    }
}
