import FoundationEssentials
import TestSupport
import Testing

/// Client reset, 7.5 and 7.6, over the real protocol: one agent makes the local edits while it is
/// suspended, another the remote ones, and sync is terminated in between. All rows are reset at once.
@Suite("The tables of client resets, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct ResetRowTests {
    private static let schema = """
        classes:
          Thing: { primary_key: _id, properties: { _id: int } }
          Owner:
            primary_key: _id
            properties:
              _id: int
              list: list<link<Thing>>
              bag: set<link<Thing>>
              map: dictionary<link<Thing>>
          Part: { embedded: true, properties: { n: int? } }
          Example:
            primary_key: _id
            properties:
              _id: int
              words: list<string>
              tags: set<string>
              map: dictionary<int?>
              a: int?
              b: int?
              amount: { type: int?, counter: true }
              one: link<Thing>
              part: embedded<Part>
              parts: list<embedded<Part>>
        """

    /// The realm that both agents have, what each makes of it, and the realm after the reset.
    private func run(
        start: [String],
        local: [[String]],
        remote: [[String]],
        check: (ResetWorld, _ agent: String) async throws -> Void
    ) async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try deployment.write("schema.yaml", Self.schema)
        for agent in ["north", "south"] { try world.configure(agent) }
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("south") { _ in
                    #expect(try await deployment.sync("north").status == 0)
                    try await write(start, in: world, on: "north")
                    #expect(try await deployment.sync("north").status == 0)
                    #expect(try await deployment.sync("south").status == 0)
                    #expect(try await world.agent("south", "suspend", "stock").status == 0)
                    // Each step is a changeset of its own.
                    for step in local { try await write(step, in: world, on: "south") }
                    for step in remote { try await write(step, in: world, on: "north") }
                    #expect(try await deployment.sync("north").status == 0)
                    try await world.terminateSync()
                    #expect(try await world.agent("south", "resume", "stock").status == 0)
                    #expect(try await world.reset("south", "finished")?.did_recover == true)
                    #expect(try await world.reset("north", "finished")?.did_recover == true)
                    for agent in ["south", "north"] {
                        #expect(try await deployment.sync(agent).status == 0)
                    }
                    #expect(try await deployment.sync("north").status == 0)
                    for agent in ["south", "north"] { try await check(world, agent) }
                }
            }
        }
    }

    /// One transaction, and its capture.
    private func write(
        _ statements: [String],
        in world: ResetWorld,
        on agent: String
    ) async throws {
        guard !statements.isEmpty else { return }
        try await world.write(
            "BEGIN IMMEDIATE; \(statements.joined(separator: " ")) COMMIT;",
            on: agent
        )
        let isCaptured = try await eventually {
            try await Programs.sqlite3(
                world.deployment.file(agent),
                "SELECT count(*) FROM _realm_capture;"
            ) == "0\n"
        }
        #expect(isCaptured)
    }

    // MARK: 7.6

    @Test("Every golden scenario of client reset 7.6")
    func scenarios() async throws {
        let scenarios = ResetScenario.all
        var local: [[String]] = []
        var remote: [[String]] = []
        for (number, scenario) in scenarios.enumerated() {
            for (side, text) in [(true, scenario.local), (false, scenario.remote)] {
                var script = ResetScenarioScript(number: number)
                for (index, step) in text.split(separator: " ").enumerated() {
                    let sql = script.perform(String(step))
                    func add(to steps: inout [[String]]) {
                        while steps.count <= index { steps.append([]) }
                        steps[index] += sql
                    }
                    if side { add(to: &local) } else { add(to: &remote) }
                }
            }
        }
        try await run(
            start: scenarios.indices.flatMap { ResetScenarioScript(number: $0).start },
            local: local,
            remote: remote
        ) { world, agent in
            let file = world.deployment.file(agent)
            for (number, scenario) in scenarios.enumerated() {
                let script = ResetScenarioScript(number: number)
                let rows = try await Programs.sqlite3(file, script.query(scenario))
                    .split(separator: "\n", omittingEmptySubsequences: false).dropLast()
                    .map(String.init)
                let expected = script.expected(scenario)
                #expect(rows == expected, "\(agent), \(scenario.local) | \(scenario.remote)")
            }
        }
        print("client reset 7.6: \(scenarios.count) rows, each for the collections it names")
    }

    // MARK: 7.5

    private struct Example {
        let name: String
        var start = "words = '[\"A\",\"B\"]'"
        /// Statements about the row `$`, each a changeset of its own.
        let local: [String]
        let remote: [String]
        let column: String
        /// Nil if the row is gone.
        let result: String?
    }

    private static func words(
        _ name: String,
        _ local: [String],
        _ remote: [String],
        _ result: String
    ) -> Example {
        func set(_ words: String) -> String {
            let list = words.map { "\"\($0)\"" }.joined(separator: ",")
            return "UPDATE Example SET words = '[\(list)]' WHERE _id = $;"
        }
        return Example(
            name: name,
            local: local.map(set),
            remote: remote.map(set),
            column: "words",
            result: "[" + result.map { "\"\($0)\"" }.joined(separator: ",") + "]"
        )
    }

    private static func set(_ assignment: String) -> String {
        "UPDATE Example SET \(assignment) WHERE _id = $;"
    }

    private static let delete = "DELETE FROM Example WHERE _id = $;"

    /// In the order of the table; lists are written as their words.
    private static let examples = [
        words("insert at the end", ["ABX"], [], "ABX"),
        words("inserts at different places", ["AXB"], ["YAB"], "YXAB"),
        words("insert into a cleared list", ["ABX"], [""], "X"),
        words("erase", ["B"], [], "B"),
        words("erase and a remote insert", ["B"], ["ABY"], "B"),
        words("set an element", ["ZB"], ["YAB"], "ZB"),
        words("insert, then erase the same", ["XAB", "AB"], ["YAB"], "YAB"),
        words("clear, then insert", ["", "X"], ["ABY"], "X"),
        words("move", ["BA"], [], "BA"),
        words("insert, then erase another", ["XAB", "XB"], ["YAB"], "XB"),
        Example(
            name: "a link to what was deleted",
            local: [set("one = $")],
            remote: ["DELETE FROM Thing WHERE _id = $;"],
            column: "one",
            result: ""
        ),
        Example(
            name: "delete, and a remote update",
            local: [delete],
            remote: [set("a = 1")],
            column: "a",
            result: nil
        ),
        Example(
            name: "update, and a remote delete",
            local: [set("a = 1")],
            remote: [delete],
            column: "a",
            result: nil
        ),
        Example(
            name: "both create, the client wins",
            start: "",
            local: ["INSERT INTO Example(_id, a) VALUES ($, 5);"],
            remote: ["INSERT INTO Example(_id, a) VALUES ($, 7);"],
            column: "a",
            result: "5"
        ),
        Example(
            name: "both set, the client wins",
            local: [set("a = 5")],
            remote: [set("a = 7")],
            column: "a",
            result: "5"
        ),
        Example(
            name: "another property of the server stays",
            local: [set("a = 5")],
            remote: [set("b = 7")],
            column: "a || ',' || b",
            result: "5,7"
        ),
        Example(
            name: "an amount is added to the server's number",
            start: "amount = 10",
            local: [set("amount = amount + 3")],
            remote: [set("amount = 20")],
            column: "amount",
            result: "23"
        ),
        Example(
            name: "an amount is not added to null",
            start: "amount = 10",
            local: [set("amount = amount + 3")],
            remote: [set("amount = NULL")],
            column: "amount",
            result: ""
        ),
        Example(
            name: "both insert into a set",
            local: [set("tags = '[\"X\"]'")],
            remote: [set("tags = '[\"X\"]'")],
            column: "tags",
            result: #"["X"]"#
        ),
        Example(
            name: "a key is set, the server erases it",
            start: #"map = '{"k":1}'"#,
            local: [set(#"map = '{"k":2}'"#)],
            remote: [set("map = '{}'")],
            column: "map",
            result: #"{"k":2}"#
        ),
        Example(
            name: "a key is erased, the server sets it",
            start: #"map = '{"k":1}'"#,
            local: [set("map = '{}'")],
            remote: [set(#"map = '{"k":2}'"#)],
            column: "map",
            result: "{}"
        ),
        Example(
            name: "an embedded object is edited, the server removes it",
            start: #"part = '{"n":0}'"#,
            local: [set(#"part = '{"n":1}'"#)],
            remote: [set("part = NULL")],
            column: "part",
            result: ""
        ),
        Example(
            name: "an embedded object is removed, the server edits it",
            start: #"part = '{"n":0}'"#,
            local: [set("part = NULL")],
            remote: [set(#"part = '{"n":1}'"#)],
            column: "part",
            result: ""
        ),
        Example(
            name: "an element of an embedded list is edited",
            start: #"parts = '[{"n":0}]'"#,
            local: [set(#"parts = '[{"n":1}]'"#)],
            remote: [set(#"parts = '[{"n":9},{"n":0}]'"#)],
            column: "parts",
            result: #"[{"n":1}]"#
        ),
    ]

    @Test("Every example of client reset 7.5")
    func examples() async throws {
        func steps(_ side: KeyPath<Example, [String]>) -> [[String]] {
            (0..<2).map { step in
                Self.examples.enumerated().compactMap { number, example in
                    let statements = example[keyPath: side]
                    return step < statements.count
                        ? statements[step].replacing("$", with: "\(number + 1)") : nil
                }
            }
        }
        var start: [String] = []
        for (number, example) in Self.examples.enumerated() {
            start.append("INSERT INTO Thing(_id) VALUES (\(number + 1));")
            guard !example.start.isEmpty else { continue }
            start.append("INSERT INTO Example(_id) VALUES (\(number + 1));")
            start.append("UPDATE Example SET \(example.start) WHERE _id = \(number + 1);")
        }
        try await run(start: start, local: steps(\.local), remote: steps(\.remote)) {
            world,
            agent in
            for (number, example) in Self.examples.enumerated() {
                let rows = try await Programs.sqlite3(
                    world.deployment.file(agent),
                    "SELECT \(example.column) FROM Example WHERE _id = \(number + 1);"
                )
                #expect(
                    rows == (example.result.map { $0 + "\n" } ?? ""),
                    "\(agent), \(example.name)"
                )
            }
        }
        print("client reset 7.5: \(Self.examples.count) rows")
    }

    @Test("A new property with a value is recovered where the server takes it (client reset 7.5)")
    func additiveChange() async throws {
        let world = try ResetWorld()
        defer { world.remove() }
        let deployment = world.deployment
        try world.configure("north")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                #expect(try await deployment.sync("north").status == 0)
                try await world.write("INSERT INTO Item(_id, note) VALUES (1, 'a');", on: "north")
                #expect(try await deployment.sync("north").status == 0)
            }
            try await world.terminateSync()
            let schema = world.text("schema.yaml")
            try deployment.write("schema.yaml", schema + "\n      stars: int?\n")
            try await deployment.withAgent("north") { _ in
                let isThere = try await eventually {
                    let sql = "UPDATE Item SET stars = 5 WHERE _id = 1;"
                    return try await Programs.attemptSQL(deployment.file("north"), sql).status == 0
                }
                #expect(isThere)
                #expect(try await world.reset("north", "finished")?.did_recover == true)
                #expect(try await deployment.sync("north").status == 0)
            }
            try world.configure("south")
            try await deployment.withAgent("south") { _ in
                #expect(try await deployment.sync("south").status == 0)
                let stars = try await Programs.sqlite3(
                    deployment.file("south"),
                    "SELECT stars FROM Item;"
                )
                #expect(stars == "5\n")
            }
        }
    }
}
