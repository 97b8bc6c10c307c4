import FoundationEssentials
import TestSupport
import Testing

@Suite("Client resets, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct ClientResetTests {
    @Test("After sync was terminated, unsynced writes of every client reach every other")
    func terminate() async throws {
        let world = try ResetWorld()
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
}
