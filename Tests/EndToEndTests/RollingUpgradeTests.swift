import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

/// A program of one release beside that of the next: here the layout says what the next one did.
@Suite(
    "Rolling upgrades",
    .serialized,
    .timeLimit(.minutes(10)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct RollingUpgradeTests {
    @Test("P18 Beside a later program this one serves, until the layout is the later one's alone")
    func laterProgram() async throws {
        let cluster = try ClusterDeployment()
        defer { cluster.remove() }
        let deployment = cluster.deployment
        func sql(_ text: String) throws {
            let target = cluster.database.target(database: "realm")
            try Connection(target, deadline: .after(.seconds(60))).execute(text)
        }
        func insert(_ id: Int) async throws {
            try await Programs.sqlite3(
                deployment.file("old"),
                "INSERT INTO \"Item\" (_id, owner, amount) VALUES (\(id), 'old', 0);"
            )
        }
        try deployment.configure("old", port: cluster.balancer)
        try await cluster.withProcess(0) { _ in
            try await cluster.withAgents(["old"]) {
                try await insert(1)
                try await until { try cluster.view() == ["1|old|0"] }
                // A program of the next release makes additive changes at its start.
                try sql(
                    """
                    ALTER TABLE realm.app ADD COLUMN later text NOT NULL DEFAULT 'x';
                    ALTER TABLE realm.object ADD COLUMN later text;
                    CREATE TABLE realm.later (n int);
                    UPDATE realm.layout SET version = 2, writable_from = 1
                    """
                )
                try await cluster.withProcess(1) { _ in
                    try await insert(2)
                    try await until { try cluster.view() == ["1|old|0", "2|old|0"] }
                    let copy = try await cluster.command(1, ["store", "upgrade"])
                    #expect(copy.status == 1)
                    #expect(copy.errors.contains("a later program"), "\(copy.errors)")
                }
                // With new connections, too.
                try cluster.database.stop(.fast)
                try cluster.database.start()
                try await until { try await cluster.ready(cluster.ports[0]) == 200 }
                try await insert(3)
                try await until { try cluster.view() == ["1|old|0", "2|old|0", "3|old|0"] }
            }
        }
        // What takes away waits for "store upgrade", which ends this program's time.
        try sql("UPDATE realm.layout SET writable_from = 2")
        let refused = try await cluster.command(0, ["serve"])
        #expect(refused.status == 2)
        #expect(refused.errors.contains("install"), "\(refused.errors)")
        #expect(refused.errors.contains("layout 2"), "\(refused.errors)")
    }

    @Test("The statements of \"store sql\" make a store that is served, with schemas for views")
    func administratorStatements() async throws {
        let cluster = try ClusterDeployment()
        defer { cluster.remove() }
        let statements = try await cluster.command(0, ["store", "sql"])
        #expect(statements.status == 0, "\(statements.errors)")
        let target = cluster.database.target(database: "realm")
        let direct = try Connection(target, deadline: .after(.seconds(60)))
        try direct.execute(statements.output)
        let storeID = try direct.run("SELECT store_id::text FROM realm.layout").string(0, 0)
        try cluster.deployment.configure("a", port: cluster.ports[0])
        try await cluster.withProcess(0) { _ in
            try await cluster.withAgents(["a"]) {
                try await Programs.sqlite3(
                    cluster.deployment.file("a"),
                    "INSERT INTO \"Item\" (_id, owner, amount) VALUES (1, 'a', 0);"
                )
                try await until { try cluster.view() == ["1|a|0"] }
            }
        }
        #expect(try direct.run("SELECT store_id::text FROM realm.layout").string(0, 0) == storeID)
    }
}
