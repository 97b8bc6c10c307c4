import FoundationEssentials
import TestSupport
import Testing

@Suite("docs/client-resets.md, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct ClientResetGuideTests {
    /// The indented lines of the page, which are its commands.
    private static func commands() throws -> [String] {
        let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = try String(contentsOfFile: "/\(root)/docs/client-resets.md", encoding: .utf8)
        return page.split(separator: "\n").filter { $0.hasPrefix("    ") }
            .map { String($0.drop { $0 == " " }) }
            .filter { $0.hasPrefix("realm-") || $0.hasPrefix("sqlite3 ") }
    }

    @Test("Every command of the page has the effect that the page describes")
    func commands() async throws {
        let world = try ResetWorld()
        let deployment = world.deployment
        defer { world.remove() }
        try world.configure("north")
        try world.configure("south", realm: "client_reset: { mode: manual }")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("south") { _ in
                    for agent in ["north", "south"] {
                        #expect(try await deployment.sync(agent).status == 0)
                    }
                    try await world.write(
                        "INSERT INTO Item(_id, note) VALUES (1, 'one'), (2, 'two');",
                        on: "north"
                    )
                    for agent in ["north", "south"] {
                        #expect(try await deployment.sync(agent).status == 0)
                    }
                    var count = 0
                    for command in try Self.commands() {
                        try await prepare(command, in: world)
                        let outcome = try await run(command, in: world)
                        #expect(outcome.status == 0, "\(command): \(outcome.errors)")
                        try await check(command, outcome, in: world)
                        count += 1
                    }
                    print("docs/client-resets.md: \(count) commands")
                    #expect(count == 16)
                }
            }
        }
    }

    /// Sets up what the page describes: unsynced changes, or a reset that was left to the owner.
    private func prepare(_ command: String, in world: ResetWorld) async throws {
        if command.contains("TOKEN") {
            try await world.terminateSync()
            try await world.expectState("needs-reset", on: "south")
            return
        }
        if command.hasPrefix("sqlite3"), command.contains("EXCEPT") {
            try await world.write("DELETE FROM Item WHERE _id = 3;", on: "north")
        }
        guard command.hasPrefix("realm-agent reset") else { return }
        #expect(try await world.agent("north", "suspend", "stock").status == 0)
        try await world.write("UPDATE Item SET note = 'mine' WHERE _id = 1;", on: "north")
        try await world.write(
            "INSERT OR IGNORE INTO Item(_id, note) VALUES (3, 'new');",
            on: "north"
        )
    }

    private func run(_ command: String, in world: ResetWorld) async throws -> Programs.Outcome {
        let directory = world.deployment.directory
        if command.hasPrefix("sqlite3 ") { return try await runSQL(command, in: world) }
        var words = command.split(separator: " ").map(String.init)
        switch words.removeFirst() {
        case "realm-agent":
            var agent = "north"
            if let index = words.firstIndex(of: "TOKEN") {
                words[index] = try await world.reset("south", "failed")?.token ?? ""
                agent = "south"
            }
            var input = ""
            if let index = words.firstIndex(of: "<") {
                // The page shows a file of another day.
                let file = try #require(world.recovered("north", ".jsonl").last)
                input = try String(contentsOfFile: file, encoding: .utf8)
                words.removeSubrange(index...)
            }
            let files = ["--config", "\(directory)/\(agent).yaml"]
            return try await Programs.run("realm-agent", words + files, input: input)
        default:
            words = words.map { $0.replacing("shop-abcde", with: Deployment.app) }
            return try await Programs.run(
                "realm-server",
                words + ["--config", "\(directory)/server.yaml"]
            )
        }
    }

    /// The command from the page, with the paths of this world for those of a package.
    private func runSQL(_ command: String, in world: ResetWorld) async throws -> Programs.Outcome {
        let directory = "\(world.deployment.directory)/north"
        let copy = try #require(world.recovered("north", ".sqlite").last)
        let text = command.replacing(
            "/var/lib/realm-agent/recovered/stock-20261120T220000Z.sqlite",
            with: copy
        ).replacing("/var/lib/realm-agent/", with: "\(directory)/")
        return try await Programs.run("sh", ["-c", text])
    }

    private func check(
        _ command: String,
        _ outcome: Programs.Outcome,
        in world: ResetWorld
    ) async throws {
        func notes() async throws -> String { try await world.notes(on: "north") }
        switch command {
        case _ where command.contains("ingest"):
            guard !command.contains("--dry-run") else { return }
            try await world.expectNotes("1|mine\n2|two\n3|new\n", on: "north")
        case _ where command.hasPrefix("sqlite3") && command.contains("EXCEPT"):
            #expect(outcome.output == "3|new\n")
        case _ where command.hasPrefix("sqlite3"):
            #expect(try await notes() == "1|mine\n2|two\n3|new\n")
        case _ where command.contains("--dry-run"):
            #expect(outcome.output.hasPrefix("a reset of stock would do this\n"))
            let verb = command.contains("discard") ? "discard" : "recover"
            #expect(outcome.output.contains("\(verb)  Item 1: note"), "\(outcome.output)")
            #expect(try await notes() == "1|mine\n2|two\n3|new\n")
        case "realm-agent reset stock":
            #expect(outcome.output.hasPrefix("stock was reset\n"))
            #expect(try await notes() == "1|mine\n2|two\n3|new\n")
        case _ where command.contains("discard-unsynced-changes"):
            #expect(outcome.output.contains("kept in"))
            #expect(try await notes() == "1|one\n2|two\n")
        case _ where command.contains("--mode manual"):
            let copy = try #require(world.recovered("north", ".sqlite").last)
            #expect(outcome.output.contains("kept in \(copy)"))
            let kept = try await Programs.sqlite3(copy, "SELECT _id, note FROM Item;")
            #expect(kept == "1|mine\n2|two\n3|new\n")
            #expect(try await world.agent("north", "resume", "stock").status == 0)
            _ = try await eventually { try await world.deployment.sync("north").status == 0 }
            try await world.expectNotes("1|one\n2|two\n", on: "north")
        case _ where command.contains("TOKEN"):
            #expect(outcome.output.contains("kept in"))
        default:
            break
        }
    }
}
