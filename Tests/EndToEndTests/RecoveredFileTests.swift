import FoundationEssentials
import TestSupport
import Testing

@Suite("A file of recovered/ is made again on top of what others did", .timeLimit(.minutes(10)))
struct RecoveredFileTests {
    private struct Report: Decodable {
        struct Change: Decodable {
            let key: String
            let action: String
            let conflict: String?
        }

        let changes: [Change]
        let dry_run: Bool
        let lines: Int
    }

    @Test(
        "A counter adds up, and a deleted row returns complete, after a dry run that predicts it"
    )
    func ingest() async throws {
        let world = try ResetWorld()
        let deployment = world.deployment
        defer { world.remove() }
        try deployment.write(
            "schema.yaml",
            """
            classes:
              Item:
                primary_key: _id
                properties:
                  _id: int
                  name: string
                  note: string?
                  n: { type: int, counter: true }
            """
        )
        try world.configure("dis", realm: "client_reset: { mode: discard-unsynced-changes }")
        try world.configure("other")
        try await deployment.withServer { _ in
            try await deployment.withAgent("dis") { _ in
                try await deployment.withAgent("other") { _ in
                    try await discard(world)
                    let file = try #require(world.recovered("dis", ".jsonl").last)
                    try await ingest(try String(contentsOfFile: file, encoding: .utf8), world)
                }
            }
        }
    }

    private func rows(_ agent: String, _ world: ResetWorld) async throws -> String {
        try await Programs.sqlite3(
            world.deployment.file(agent),
            "SELECT _id, name, note, n FROM \"Item\" ORDER BY _id;"
        )
    }

    private func expectRows(_ expected: String, on agent: String, _ world: ResetWorld) async throws
    {
        var found = ""
        let isSo = try await eventually {
            found = try await rows(agent, world)
            return found == expected
        }
        #expect(isSo, "\(agent): \(found), not \(expected)")
    }

    /// Writes on both sides, and a reset that throws those of one away.
    private func discard(_ world: ResetWorld) async throws {
        let deployment = world.deployment
        for agent in ["dis", "other"] { #expect(try await deployment.sync(agent).status == 0) }
        try await world.write(
            "INSERT INTO Item(_id, name, note) VALUES (2, 'b', 'x'), (4, 'd', 'x');",
            on: "dis"
        )
        #expect(try await deployment.sync("dis").status == 0)
        try await expectRows("2|b|x|0\n4|d|x|0\n", on: "other", world)
        #expect(try await world.agent("dis", "suspend", "stock").status == 0)
        try await world.write(
            "UPDATE Item SET n = n + 1 WHERE _id = 4; UPDATE Item SET note = 'upd' WHERE _id = 2;",
            on: "dis"
        )
        try await world.write(
            "UPDATE Item SET n = n + 5 WHERE _id = 4; DELETE FROM Item WHERE _id = 2;",
            on: "other"
        )
        #expect(try await deployment.sync("other").status == 0)
        try await world.terminateSync()
        #expect(try await world.agent("dis", "resume", "stock").status == 0)
        try await expectRows("4|d|x|5\n", on: "dis", world)
        // Another device writes before the file is ingested.
        _ = try await eventually { try await deployment.sync("other").status == 0 }
        try await world.write("UPDATE Item SET n = n + 2 WHERE _id = 4;", on: "other")
        #expect(try await deployment.sync("other").status == 0)
        try await expectRows("4|d|x|7\n", on: "dis", world)
    }

    private func ingest(_ input: String, _ world: ResetWorld) async throws {
        func run(_ options: String...) async throws -> Programs.Outcome {
            let path = "\(world.deployment.directory)/dis.yaml"
            let outcome = try await Programs.run(
                "realm-agent",
                ["ingest", "stock", "--recovered", "--config", path] + options,
                input: input
            )
            #expect(outcome.status == 0, "\(outcome.errors)")
            return outcome
        }
        let table = try await run("--dry-run").output
        #expect(table.hasPrefix("OBJECT  ACTION  CHANGES"), "\(table)")
        #expect(table.contains("Item 4  update  n: 7 -> 8"), "\(table)")
        #expect(table.contains("row_gone: the row was deleted; it is recreated"), "\(table)")
        let output = try await run("--dry-run", "--json").output
        let report = try JSONDecoder().decode(Report.self, from: Data(output.utf8))
        #expect(report.dry_run && report.lines == 2)
        let told = report.changes.map { "\($0.key) \($0.action) \($0.conflict ?? "-")" }
        #expect(told.sorted() == ["2 insert row_gone", "4 update -"])
        try await expectRows("4|d|x|7\n", on: "dis", world)

        let errors = try await run().errors
        #expect(errors.contains("Item 2: row_gone"), "\(errors)")
        for agent in ["dis", "other"] {
            try await expectRows("2|b|upd|0\n4|d|x|8\n", on: agent, world)
        }
    }
}
