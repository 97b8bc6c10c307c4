import FoundationEssentials
import TestSupport
import Testing

@Suite("Keys of a realm that change what its file does", .timeLimit(.minutes(30)))
struct RealmKeyTests {
    @Test("read_only: programs read what the server sends, and write once the key is gone")
    func readOnly() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("south")
        try world.configure("north", realm: "read_only: true")
        let deployment = world.deployment
        try await deployment.withServer { _ in
            try await deployment.withAgent("south") { _ in
                #expect(try await deployment.sync("south").status == 0)
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'one');", on: "south")
                #expect(try await deployment.sync("south").status == 0)
            }
            try await deployment.withAgent("north") { _ in
                #expect(try await deployment.sync("north").status == 0)
                try await world.expectNotes("1|one\n", on: "north")
                for sql in [
                    "INSERT INTO Item(_id, note) VALUES (2, 'two');",
                    "UPDATE Item SET note = 'x';", "DELETE FROM Item;",
                ] {
                    let refused = try await Programs.attemptSQL(deployment.file("north"), sql)
                    #expect(refused.status != 0)
                    #expect(
                        refused.errors.contains("read-only on this machine"),
                        "\(refused.errors)"
                    )
                }
                #expect(try await world.agent("north", "doctor").output.contains("triggers  stock"))
                try world.configure("north")
                #expect(try await world.agent("north", "reload").status == 0)
                try await world.expectState("open", on: "north")
                let isOpen = try await eventually {
                    try await Programs.attemptSQL(
                        deployment.file("north"),
                        "INSERT OR REPLACE INTO Item(_id, note) VALUES (2, 'two');"
                    ).status == 0
                }
                #expect(isOpen)
                #expect(try await deployment.sync("north").status == 0)
            }
            #expect(!deployment.log("north").contains("altered outside the agent"))
            try await deployment.withAgent("south") { _ in
                #expect(try await deployment.sync("south").status == 0)
                try await world.expectNotes("1|one\n2|two\n", on: "south")
            }
        }
    }

    @Test("counters: integers of a learned schema add up, other properties stay as they are")
    func counters() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("first")
        try await deployment.withServer { _ in
            try await deployment.withAgent("first") { _ in
                #expect(try await deployment.sync("first").status == 0)
                try await world.write(
                    "INSERT INTO Item(_id, owner, amount) VALUES (1, 'o', 10);",
                    on: "first"
                )
                #expect(try await deployment.sync("first").status == 0)
            }
            for agent in ["north", "south"] {
                try world.configure(agent, realm: "counters: [Item.amount, Item.owner, Gone.x]")
                let path = "\(deployment.directory)/\(agent).yaml"
                let text = try String(contentsOfFile: path, encoding: .utf8)
                let schema = "    schema: \(deployment.directory)/schema.yaml\n"
                try deployment.write("\(agent).yaml", text.replacing(schema, with: ""))
                #expect(try await deployment.sync(agent).status == 0)
                try await world.write(
                    "UPDATE Item SET amount = amount + 5, owner = '\(agent)';",
                    on: agent
                )
            }
            // Neither has seen the other's write when it uploads its own.
            for agent in ["north", "south", "north"] {
                #expect(try await deployment.sync(agent).status == 0)
            }
            for agent in ["north", "south"] {
                let rows = try await Programs.sqlite3(
                    deployment.file(agent),
                    "SELECT amount, owner IN ('north', 'south') FROM Item;"
                )
                #expect(rows == "20|1\n", "\(agent)")
            }
        }
    }
}
