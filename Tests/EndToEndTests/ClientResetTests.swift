import FoundationEssentials
import Testing

@Suite("Client resets, with the real programs", .serialized)
struct ClientResetTests {
    private struct World {
        let deployment: Deployment

        init() throws {
            deployment = try Deployment()
            let server = try String(
                contentsOfFile: "\(deployment.directory)/server.yaml",
                encoding: .utf8
            )
            let socket = "  admin_socket: \(deployment.directory)/admin.sock\n"
            try deployment.write(
                "server.yaml",
                server.replacing("server:\n", with: "server:\n\(socket)", maxReplacements: 1)
            )
        }

        func server(_ arguments: String...) async throws {
            let files = [
                "--config", "\(deployment.directory)/server.yaml", "--app", Deployment.app,
            ]
            let outcome = try await Programs.run("realm-server", arguments + files)
            #expect(outcome.status == 0, "\(arguments): \(outcome.output)\(outcome.errors)")
        }

        func agent(_ name: String, _ arguments: String...) async throws -> Programs.Outcome {
            let files = ["--config", "\(deployment.directory)/\(name).yaml"]
            return try await Programs.run("realm-agent", arguments + files)
        }

        func item(_ id: Int, on agent: String) async throws -> String {
            try await Programs.sqlite3(
                deployment.file(agent),
                "SELECT note FROM \"Item\" WHERE _id = \(id);"
            ).filter { $0 != "\n" }
        }

        func notes(on agent: String) async throws -> String {
            let sql = "SELECT _id, note FROM \"Item\" ORDER BY _id;"
            return try await Programs.sqlite3(deployment.file(agent), sql)
        }

        func write(_ sql: String, on agent: String) async throws {
            try await Programs.sqlite3(deployment.file(agent), sql)
        }
    }

    @Test("After sync was terminated, unsynced writes of every client reach every other")
    func terminate() async throws {
        let world = try World()
        let deployment = world.deployment
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("south") { _ in
                    try await deployment.sync("north")
                    try await world.write(
                        "INSERT INTO Item(_id, note) VALUES (1, 'one'), (2, 'two'), (3, 'three');",
                        on: "north"
                    )
                    try await deployment.sync("north")
                    try await deployment.sync("south")
                    #expect(try await deployment.count("south") == 3)

                    try await world.server("sync", "terminate", "--yes")
                    try await world.write(
                        """
                        UPDATE Item SET note = 'north' WHERE _id = 1;
                        INSERT INTO Item(_id, note) VALUES (4, 'four');
                        """,
                        on: "north"
                    )
                    try await world.write(
                        """
                        UPDATE Item SET note = 'south' WHERE _id = 2;
                        DELETE FROM Item WHERE _id = 3;
                        """,
                        on: "south"
                    )
                    try await world.server("sync", "enable")

                    for agent in ["north", "south"] {
                        let expected = "1|north\n2|south\n4|four\n"
                        let isThere = try await eventually {
                            try await world.notes(on: agent) == expected
                        }
                        let notes = try await world.notes(on: agent)
                        #expect(isThere, "\(notes)\(deployment.log(agent))")
                        #expect(deployment.log(agent).contains("client reset finished"))
                        #expect(
                            !FileManager.default.fileExists(
                                atPath: deployment.file(agent) + ".fresh"
                            )
                        )
                        let sync = try await deployment.sync(agent)
                        #expect(sync.status == 0, "\(sync.errors)")
                    }
                }
            }
        }
    }

    @Test("The commands of docs/client-resets.md do what the page says")
    func byHand() async throws {
        let world = try World()
        let deployment = world.deployment
        defer { deployment.remove() }
        try deployment.configure("north")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.sync("north")
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'one');", on: "north")
                try await deployment.sync("north")
                try await world.server("sync", "pause")
                try await world.write("UPDATE Item SET note = 'mine' WHERE _id = 1;", on: "north")
                // The realm needs no server for its own writes; what follows does.
                try await world.server("sync", "terminate", "--yes")
                try await world.server("sync", "enable")
                _ = try await eventually { try await deployment.sync("north").status == 0 }

                let rehearsal = try await world.agent("north", "reset", "stock", "--dry-run")
                #expect(rehearsal.status == 0, "\(rehearsal.errors)")
                #expect(rehearsal.output.hasPrefix("a reset of stock would do this\n"))

                let reset = try await world.agent("north", "reset", "stock")
                #expect(reset.status == 0, "\(reset.errors)\(deployment.log("north"))")
                #expect(reset.output.hasPrefix("stock was reset\n"))
                #expect(try await world.item(1, on: "north") == "mine")

                let wrong = try await world.agent("north", "reset", "stock", "--mode", "maybe")
                #expect(wrong.status == 1)
                #expect(wrong.errors.contains("recover-or-discard-unsynced-changes"))

                let over = try await world.agent("north", "reset", "stock", "--mode", "manual")
                #expect(over.status == 0, "\(over.errors)")
                let kept = over.output.split(separator: " ").last.map { $0.filter { $0 != "\n" } }
                let copy = try await Programs.sqlite3(kept ?? "", "SELECT note FROM Item;")
                #expect(copy == "mine\n")
                let isBack = try await eventually {
                    guard try await deployment.sync("north").status == 0 else { return false }
                    return try await world.item(1, on: "north") == "mine"
                }
                #expect(isBack, "\(deployment.log("north"))")

                #expect(try await world.agent("north", "restart", "stock").status == 0)
                let isOpen = try await eventually { try await deployment.sync("north").status == 0 }
                #expect(isOpen)
            }
        }
    }
}
