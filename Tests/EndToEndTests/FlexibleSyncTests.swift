import FoundationEssentials
import Glibc
import TestSupport
import Testing

/// The two programs with an app of flexible sync.
@Suite("Flexible sync, with the real programs", .serialized, .timeLimit(.minutes(20)))
struct FlexibleSyncTests {
    private func world() throws -> Deployment {
        let deployment = try Deployment()
        try deployment.write(
            "server.yaml",
            """
            version: 1
            server:
              listen: 127.0.0.1:\(deployment.port)
              storage: sqlite:\(deployment.directory)/server/server.sqlite
              log: { level: info, output: stderr }
            apps:
              \(Deployment.app):
                sync: { mode: flexible, queryable_fields: [owner, amount] }
                development_mode: true
                providers: { anonymous: true }
                rules:
                  default: { read: true, write: "amount < 1000" }
            """
        )
        return deployment
    }

    private func configure(
        _ deployment: Deployment,
        _ agent: String,
        _ subscriptions: String...
    ) throws {
        try deployment.configure(agent)
        let path = "\(deployment.directory)/\(agent).yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let list = subscriptions.map { "{ class: Item, query: \"\($0)\" }" }
            .joined(separator: ", ")
        try deployment.write(
            "\(agent).yaml",
            text.replacing(#"partition: { string: "main" }"#, with: "subscriptions: [\(list)]")
        )
    }

    private func sync(_ deployment: Deployment, _ agent: String) async throws {
        let outcome = try await deployment.sync(agent)
        #expect(outcome.status == 0, "\(outcome.errors)\(deployment.log(agent))")
    }

    private func owners(_ deployment: Deployment, _ agent: String) async throws -> String {
        try await Programs.sqlite3(
            deployment.file(agent),
            "SELECT group_concat(_id || owner, ' ') FROM (SELECT * FROM Item ORDER BY _id);"
        ).filter { $0 != "\n" }
    }

    private func insert(
        _ deployment: Deployment,
        _ agent: String,
        _ id: Int,
        _ owner: String,
        amount: Int = 1
    ) async throws -> Programs.Outcome {
        try await Programs.attemptSQL(
            deployment.file(agent),
            "INSERT INTO Item(_id, owner, amount) VALUES (\(id), '\(owner)', \(amount));"
        )
    }

    @Test("Each agent holds what its subscriptions select; objects move between views")
    func views() async throws {
        let deployment = try world()
        defer { deployment.remove() }
        try configure(deployment, "north", "owner == 'n'")
        try configure(deployment, "all", "TRUEPREDICATE")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("all") { _ in
                    try await sync(deployment, "all")
                    for (id, owner) in [(1, "n"), (2, "s"), (3, "n")] {
                        #expect(
                            try await insert(deployment, "all", id, owner).status == 0
                        )
                    }
                    try await sync(deployment, "all")
                    try await sync(deployment, "north")
                    #expect(try await owners(deployment, "north") == "1n 3n")
                    #expect(try await owners(deployment, "all") == "1n 2s 3n")
                    // One object leaves the view, another enters it.
                    try await Programs.sqlite3(
                        deployment.file("all"),
                        "UPDATE Item SET owner = 's' WHERE _id = 1; UPDATE Item SET owner = 'n' WHERE _id = 2;"
                    )
                    try await sync(deployment, "all")
                    try await sync(deployment, "north")
                    #expect(try await owners(deployment, "north") == "2n 3n")
                    // What one writes within its view reaches the other.
                    #expect(try await insert(deployment, "north", 4, "n").status == 0)
                    try await sync(deployment, "north")
                    try await sync(deployment, "all")
                    #expect(try await owners(deployment, "all") == "1s 2n 3n 4n")
                }
            }
        }
    }

    @Test("A write outside of the view, or against the rules, is undone and listed with its row")
    func rejected() async throws {
        let deployment = try world()
        defer { deployment.remove() }
        try configure(deployment, "north", "owner == 'n'")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await sync(deployment, "north")
                #expect(try await insert(deployment, "north", 1, "n").status == 0)
                #expect(try await insert(deployment, "north", 2, "s").status == 0)
                #expect(try await insert(deployment, "north", 3, "n", amount: 5000).status == 0)
                try await sync(deployment, "north")
                try await until { try await owners(deployment, "north") == "1n" }
                let rejects = try await Programs.run(
                    "realm-agent",
                    [
                        "rejects", "stock", "--config", "\(deployment.directory)/north.yaml",
                        "--json",
                    ]
                )
                #expect(rejects.status == 0, "\(rejects.errors)")
                #expect(rejects.output.contains("outside of the current query view"))
                #expect(rejects.output.contains("5000"), "\(rejects.output)")
            }
        }
    }

    @Test("A client reset keeps the subscriptions, and recovers what they allow")
    func reset() async throws {
        let deployment = try world()
        defer { deployment.remove() }
        try configure(deployment, "north", "owner == 'n'")
        try await deployment.withServer { _ in
            try await sync(deployment, "north")
            #expect(try await insert(deployment, "north", 1, "n").status == 0)
            try await sync(deployment, "north")
            // Written while no agent runs, and before sync begins again.
            for command in [["terminate", "--yes"], ["enable"]] {
                let outcome = try await Programs.run(
                    "realm-server",
                    ["sync"] + command
                        + [
                            "--config", "\(deployment.directory)/server.yaml", "--app",
                            Deployment.app,
                        ]
                )
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            #expect(try await insert(deployment, "north", 2, "n").status == 0)
            #expect(try await insert(deployment, "north", 3, "s").status == 0)
            try await deployment.withAgent("north") { _ in
                try await until { deployment.log("north").contains("client reset finished") }
                try await sync(deployment, "north")
                try await until { try await owners(deployment, "north") == "1n 2n" }
            }
            let sets = try await Programs.sqlite3(
                deployment.file("north"),
                """
                SELECT s.version, state, query FROM _realm_subscription_set s
                JOIN _realm_subscription q ON q.set_version = s.version;
                SELECT key, reason FROM _realm_reject;
                """
            )
            #expect(sets.hasPrefix("1|3|owner == \"n\"\n3|"), "\(sets)")
            #expect(sets.contains("outside of the current query view"), "\(sets)")
        }
    }

    @Test("Programs cannot insert into a class without a subscription")
    func denied() async throws {
        let deployment = try world()
        defer { deployment.remove() }
        try configure(deployment, "north", "owner == 'n'")
        try deployment.write(
            "schema.yaml",
            """
            classes:
              Item: { primary_key: _id, properties: { _id: int, owner: string, amount: int? } }
              Other: { primary_key: _id, properties: { _id: int } }
            """
        )
        try await deployment.withServer { _ in
            try await sync(deployment, "north")
            let refused = try await Programs.attemptSQL(
                deployment.file("north"),
                "INSERT INTO Other VALUES (1);"
            )
            #expect(refused.status != 0)
            #expect(
                refused.errors.contains(
                    "Cannot write to class Other when no flexible sync subscription has been created."
                ),
                "\(refused.errors)"
            )
            #expect(try await insert(deployment, "north", 1, "n").status == 0)
        }
    }

    @Test("SIGKILL during the first bootstrap: the next process continues, and no row is missing")
    func killed() async throws {
        let deployment = try world()
        defer { deployment.remove() }
        try configure(deployment, "all", "TRUEPREDICATE")
        try await deployment.withServer { _ in
            try await sync(deployment, "all")
            try await Programs.sqlite3(
                deployment.file("all"),
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
                INSERT INTO Item(_id, owner, note, amount) SELECT i, 'n', hex(zeroblob(100)), 1 FROM n;
                """
            )
            try await sync(deployment, "all")
            for attempt in 1...4 {
                let name = "late\(attempt)"
                try configure(deployment, name, "owner == 'n'")
                try await deployment.withAgent(name) { agent in
                    // With some of it staged, if that is to be met; otherwise soon after.
                    try await until {
                        let found = try await Programs.attemptSQL(
                            deployment.file(name),
                            """
                            SELECT count(*) >= \(attempt) FROM _realm_bootstrap_changeset
                            UNION SELECT count(*) > 0 FROM Item ORDER BY 1 DESC;
                            """
                        )
                        return found.output.hasPrefix("1")
                    }
                    kill(agent.pid, SIGKILL)
                }
                try await sync(deployment, name)
                #expect(try await deployment.count(name) == 20_000)
            }
        }
    }
}
