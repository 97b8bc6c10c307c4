import FoundationEssentials
import TestSupport
import Testing

/// Flexible sync, 16.1: an app changes between partition-based and flexible sync, and its agents follow.
@Suite(
    "An app changes its kind of sync, with the real programs",
    .serialized,
    .timeLimit(.minutes(20))
)
struct ModeMigrationTests {
    private struct World {
        let deployment: Deployment

        init() throws {
            deployment = try Deployment()
            try serve(isFlexible: false)
            try deployment.configure("north")
            try deployment.configure("south", partition: "other")
        }

        func serve(isFlexible: Bool) throws {
            let mode =
                isFlexible
                ? "{ mode: flexible, queryable_fields: [site], partition_key: site }"
                : "{ mode: partition, partition_key: site, partition_type: string }"
            let rules =
                isFlexible ? "rules: { default: { read: true, write: true } }" : ""
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
                    sync: \(mode)
                    development_mode: true
                    providers: { anonymous: true }
                    \(rules)
                """
            )
        }

        func server(_ words: String...) async throws {
            let outcome = try await Programs.run(
                "realm-server",
                words + [
                    "--config", "\(deployment.directory)/server.yaml", "--app", Deployment.app,
                ]
            )
            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
        }

        func agent(_ name: String, _ words: String...) async throws -> Programs.Outcome {
            let files = ["--config", "\(deployment.directory)/\(name).yaml"]
            return try await Programs.run("realm-agent", words + files)
        }

        func sync(_ agent: String) async throws {
            let outcome = try await deployment.sync(agent)
            #expect(outcome.status == 0, "\(outcome.errors)\(deployment.log(agent))")
        }

        func write(_ agent: String, _ sql: String) async throws {
            let outcome = try await Programs.attemptSQL(deployment.file(agent), sql)
            #expect(outcome.status == 0, "\(outcome.errors)")
        }

        func notes(_ agent: String) async throws -> String {
            try await Programs.sqlite3(
                deployment.file(agent),
                "SELECT group_concat(_id || note, ' ') FROM (SELECT * FROM Item ORDER BY _id);"
            ).filter { $0 != "\n" }
        }

        /// Moves the objects, and serves the app in the other mode from then on.
        func switchMode(isFlexible: Bool) async throws {
            try await deployment.withServer { _ in
                if isFlexible {
                    try await server("sync", "migrate", "--yes")
                } else {
                    try await server("sync", "migrate", "--rollback", "--yes")
                }
            }
            try serve(isFlexible: isFlexible)
            try await deployment.withServer { _ in try await server("sync", "enable") }
        }
    }

    @Test(
        "Agents follow to flexible sync and back, at their paths, with what they had not uploaded"
    )
    func thereAndBack() async throws {
        let world = try World()
        let deployment = world.deployment
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            for (agent, first) in [("north", 1), ("south", 11)] {
                try await deployment.withAgent(agent) { _ in
                    try await world.sync(agent)
                    try await world.write(
                        agent,
                        "INSERT INTO Item(_id, owner, note) VALUES (\(first), 'o', 'a'), (\(first + 1), 'o', 'b');"
                    )
                    try await world.sync(agent)
                }
            }
        }
        // Pending in the partition.
        try await world.write(
            "north",
            "UPDATE Item SET note = 'A' WHERE _id = 1; INSERT INTO Item(_id, owner, note) VALUES (3, 'o', 'c');"
        )
        try await world.switchMode(isFlexible: true)
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("south") { _ in
                    try await until {
                        deployment.log("north").contains("client reset finished")
                            && deployment.log("south").contains("client reset finished")
                    }
                    for agent in ["north", "south"] { try await world.sync(agent) }
                    #expect(try await world.notes("north") == "1A 2b 3c")
                    #expect(try await world.notes("south") == "11a 12b")
                    let status = try await world.agent("north", "status", "--json")
                    #expect(status.output.contains(#""mode":"migrated""#), "\(status.output)")
                    let list = try await world.agent("north", "subscriptions", "list", "stock")
                    #expect(list.output.contains("flx_migrated_Item"), "\(list.output)")
                    // Programs that know nothing of the change write into their partition.
                    try await world.write(
                        "north",
                        "INSERT INTO Item(_id, owner, note) VALUES (4, 'o', 'd');"
                    )
                    try await world.sync("north")
                    try await world.sync("north")
                    #expect(try await world.notes("north") == "1A 2b 3c 4d")
                    let verify = try await world.agent("north", "verify", "stock")
                    #expect(verify.status == 0, "\(verify.output)\(verify.errors)")
                    #expect(verify.output.contains("Item: 4 objects, equal"), "\(verify.output)")
                    let check = try await world.agent("north", "check", "--connect")
                    #expect(check.status == 0, "\(check.output)\(check.errors)")
                    #expect(check.output.contains("moved to flexible sync"), "\(check.output)")
                    let rejects = try await world.agent("north", "rejects", "stock", "--json")
                    #expect(rejects.output.isEmpty, "\(rejects.output)")
                    // An ordinary reset keeps the record of the change.
                    let reset = try await world.agent("south", "reset", "stock")
                    #expect(reset.status == 0, "\(reset.output)\(reset.errors)")
                    try await world.sync("south")
                    #expect(try await world.notes("south") == "11a 12b")
                }
            }
        }
        // Pending in the view.
        try await world.write(
            "north",
            "DELETE FROM Item WHERE _id = 2; INSERT INTO Item(_id, owner, note) VALUES (5, 'o', 'e');"
        )
        try await world.switchMode(isFlexible: false)
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await until {
                    deployment.log("north").split(separator: "client reset finished").count == 3
                }
                try await world.sync("north")
                #expect(try await world.notes("north") == "1A 3c 4d 5e")
                let status = try await world.agent("north", "status", "--json")
                #expect(status.output.contains(#""mode":"partition""#), "\(status.output)")
                let left = try await Programs.sqlite3(
                    deployment.file("north"),
                    """
                    SELECT (SELECT count(*) FROM _realm_migration)
                      + (SELECT count(*) FROM _realm_subscription_set), sync_mode FROM _realm_state;
                    """
                )
                #expect(left == "0|0\n")
            }
            // A new client of the partition gets the same.
            try deployment.configure("late")
            try await deployment.withAgent("late") { _ in
                try await world.sync("late")
                #expect(try await world.notes("late") == "1A 3c 4d 5e")
            }
        }
    }

    @Test("Once its configuration declares subscriptions, a realm that followed is one like others")
    func declared() async throws {
        let world = try World()
        let deployment = world.deployment
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await world.sync("north")
                try await world.write(
                    "north",
                    "INSERT INTO Item(_id, owner, note) VALUES (1, 'o', 'a');"
                )
                try await world.sync("north")
            }
        }
        try await world.switchMode(isFlexible: true)
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await until { deployment.log("north").contains("client reset finished") }
                try await world.sync("north")
            }
            try deployment.write(
                "schema.yaml",
                """
                classes:
                  Item:
                    primary_key: _id
                    properties: { _id: int, owner: string, note: string?, site: string? }
                """
            )
            let path = "\(deployment.directory)/north.yaml"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            try deployment.write(
                "north.yaml",
                text.replacing(
                    #"partition: { string: "main" }"#,
                    with: #"subscriptions: [ { class: Item, query: "site == 'main'" } ]"#
                )
            )
            try await deployment.withAgent("north") { _ in
                try await world.sync("north")
                try await until {
                    try await Programs.sqlite3(
                        deployment.file("north"),
                        "SELECT count(*) FROM _realm_migration;"
                    ) == "0\n"
                }
                #expect(try await world.notes("north") == "1a")
                let status = try await world.agent("north", "status", "--json")
                #expect(status.output.contains(#""mode":"flexible""#), "\(status.output)")
            }
            // The other partition was never this file's.
            try deployment.write(
                "north.yaml",
                text.replacing(#""main""#, with: #""other""#)
            )
            try await deployment.withAgent("north") { _ in
                let sync = try await deployment.sync("north", timeout: "20s")
                #expect(sync.status != 0)
                #expect(deployment.log("north").contains("realm.wrong_owner"))
            }
        }
    }
}
