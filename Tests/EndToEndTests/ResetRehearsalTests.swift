import Testing

/// Client reset, 14: what a reset would do, said before it is done.
@Suite("Rehearsals of client resets, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct ResetRehearsalTests {
    /// Three rows on both sides; one is gone on the server by now, and all have changed here.
    private func with(_ body: (ResetWorld) async throws -> Void) async throws {
        let world = try ResetWorld(app: "client_recovery: false")
        defer { world.remove() }
        let deployment = world.deployment
        for agent in ["north", "south"] { try world.configure(agent) }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                #expect(try await deployment.sync("north").status == 0)
                let rows =
                    "INSERT INTO Item(_id, note) VALUES (1, 'one'), (2, 'two'), (3, 'three');"
                try await world.write(rows, on: "north")
                #expect(try await deployment.sync("north").status == 0)
                #expect(try await world.agent("north", "suspend", "stock").status == 0)
                try await deployment.withAgent("south") { _ in
                    #expect(try await deployment.sync("south").status == 0)
                    try await world.write("DELETE FROM Item WHERE _id = 2;", on: "south")
                    #expect(try await deployment.sync("south").status == 0)
                }
                try await world.write(
                    """
                    UPDATE Item SET note = 'mine' WHERE _id <= 2;
                    DELETE FROM Item WHERE _id = 3;
                    INSERT INTO Item(_id, note) VALUES (4, 'four');
                    """,
                    on: "north"
                )
                try await body(world)
            }
        }
    }

    private func rehearse(_ world: ResetWorld, _ mode: String...) async throws -> String {
        let words = mode.flatMap { ["--mode", $0] }
        let files = ["--config", "\(world.deployment.directory)/north.yaml"]
        let outcome = try await Programs.run(
            "realm-agent",
            ["reset", "stock", "--dry-run"] + words + files
        )
        return outcome.output + outcome.errors
    }

    /// The same lines, in the order in which the changes happened to be captured.
    private func expectLines(
        _ output: String,
        _ expected: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let (lines, wanted) = (output.split(separator: "\n"), expected.split(separator: "\n"))
        #expect(lines.first == wanted.first, sourceLocation: sourceLocation)
        #expect(lines.sorted() == wanted.sorted(), sourceLocation: sourceLocation)
    }

    @Test(
        "What would be recovered, dropped and why, or discarded, object by object; nothing changes"
    )
    func objectByObject() async throws {
        try await with { world in
            let kept = "\(world.deployment.directory)/north/recovered"
            let recovering = try await rehearse(world)
            expectLines(
                recovering,
                """
                a reset of stock would do this
                  recover  Item 1: note
                  recover  Item 3: deleted
                  recover  Item 4: note
                  drop     Item 2: note: the object was deleted on the server
                  rows: 0 created, 0 updated, 1 deleted

                """
            )
            let discarding = try await rehearse(world, "discard-unsynced-changes")
            expectLines(
                discarding,
                """
                a reset of stock would do this
                  discard  Item 1: note
                  discard  Item 2: note
                  discard  Item 3: deleted
                  discard  Item 4: note
                  rows: 1 created, 1 updated, 2 deleted
                  kept in \(kept)

                """
            )
            let startingOver = try await rehearse(world, "manual")
            expectLines(
                startingOver,
                """
                stock would start over
                  kept in \(kept)

                """
            )
            #expect(try await world.notes(on: "north") == "1|mine\n2|mine\n4|four\n")
            #expect(!world.exists(world.deployment.file("north") + ".fresh"))
            #expect(world.recovered("north", "").isEmpty)
        }
    }

    @Test("Where the server permits no recovery, the rehearsal does not promise it")
    func forbidden() async throws {
        try await with { world in
            try await world.terminateSync()
            #expect(try await world.agent("north", "resume", "stock").status == 0)
            try await world.expectState("needs-reset", "recovery_not_permitted", on: "north")
            let refused = try await rehearse(world)
            #expect(refused.contains("would be left to you"), "\(refused)")
            #expect(refused.contains("reset.recovery_not_permitted"), "\(refused)")
            let discarding = try await rehearse(world, "recover-or-discard-unsynced-changes")
            #expect(discarding.contains("the server does not permit recovery"), "\(discarding)")
            #expect(discarding.contains("discard  Item 1: note"), "\(discarding)")
        }
    }
}
