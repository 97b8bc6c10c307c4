import FoundationEssentials
import TestSupport
import Testing

/// Programs write to the file that has the realm's name, so the agent must not keep another one.
@Suite(
    "A realm file that changes its place under the agent",
    .serialized,
    .timeLimit(.minutes(30))
)
struct ReplacedFileTests {
    @Test("Removed: the agent says so, and begins with a new file that has everything")
    func removed() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        try world.configure("south")
        try await world.deployment.withServer { _ in
            try await world.deployment.withAgent("north") { _ in
                #expect(try await world.deployment.sync("north").status == 0)
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'old');", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
                for suffix in ["", "-wal", "-shm"] {
                    try? FileManager.default.removeItem(
                        atPath: world.deployment.file("north") + suffix
                    )
                }
                try await world.expectNotes("1|old\n", on: "north")
                let log = world.deployment.log("north")
                #expect(log.contains("code=realm.file_replaced"), "\(log)")
                #expect(log.contains("the agent opens the file that is there now"), "\(log)")
                try await world.expectState("open", on: "north")
                try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'new');", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
            }
            #expect(try await world.deployment.sync("south").status == 0)
            #expect(try await world.notes(on: "south") == "1|old\n2|new\n")
        }
    }

    @Test("Replaced by a copy of before: what the server has since comes again")
    func replaced() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        try world.configure("north")
        let file = world.deployment.file("north")
        try await world.deployment.withServer { _ in
            #expect(try await world.deployment.sync("north").status == 0)
            try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'old');", on: "north")
            #expect(try await world.deployment.sync("north").status == 0)
            #expect(try await Programs.run("cp", [file, "\(file).backup"]).status == 0)
            try await world.deployment.withAgent("north") { _ in
                try await world.write("INSERT INTO Item(_id, note) VALUES (2, 'new');", on: "north")
                #expect(try await world.deployment.sync("north").status == 0)
                for suffix in ["-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: file + suffix)
                }
                #expect(try await Programs.run("mv", ["\(file).backup", file]).status == 0)
                try await world.expectNotes("1|old\n2|new\n", on: "north")
                let log = world.deployment.log("north")
                #expect(log.contains("code=realm.file_replaced"), "\(log)")
                try await world.expectState("open", on: "north")
            }
        }
    }
}
