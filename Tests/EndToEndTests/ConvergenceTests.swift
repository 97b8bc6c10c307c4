import Subprocess
import TestSupport
import Testing

@Suite("Two agents and a server as processes", .serialized, .timeLimit(.minutes(30)))
struct ConvergenceTests {
    @Test("Rows written on one side appear on the other; concurrent writes end the same")
    func twoAgents() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south", user: .emailPassword)
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("south") { _ in
                    _ = try await eventually { try await exists(deployment, "south") }
                    try await load(deployment, "north", from: 0, count: 300)
                    let isThere = try await eventually {
                        try await deployment.count("south") == 300
                    }
                    #expect(isThere, "\(deployment.log("south"))")
                    async let north: Void = update(deployment, "north", "_id < 200")
                    async let south: Void = update(deployment, "south", "_id >= 100")
                    _ = try await (north, south)
                    try await Programs.sqlite3(
                        deployment.file("south"),
                        "DELETE FROM \"Item\" WHERE _id = 7;"
                    )
                    try await expectEqual(deployment, rows: 299)
                }
            }
        }
    }

    @Test("An agent killed at ten different moments loses nothing and applies nothing twice")
    func killed() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withServer { _ in
            try await deployment.withAgent("south") { _ in
                for moment in 0..<10 {
                    try await deployment.withAgent("north") { north in
                        _ = try await eventually { try await exists(deployment, "north") }
                        async let writes: Void = load(
                            deployment,
                            "north",
                            from: moment * 100,
                            count: 100,
                            perTransaction: 10
                        )
                        async let others: Void = load(
                            deployment,
                            "south",
                            from: 10_000 + moment * 100,
                            count: 100
                        )
                        // Each round a little later: while writes are captured, uploaded, downloaded.
                        try await Task.sleep(for: .milliseconds(7 * moment))
                        north.signal(.kill)
                        _ = try await (writes, others)
                    }
                }
                try await deployment.withAgent("north") { _ in
                    try await expectEqual(deployment, rows: 2000)
                }
            }
        }
    }

    @Test("Both sides write while the server is away, and after it is back both are equal")
    func serverAway() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withAgent("north") { _ in
            try await deployment.withAgent("south") { _ in
                try await deployment.withServer { server in
                    _ = try await eventually { try await exists(deployment, "south") }
                    try await load(deployment, "north", from: 0, count: 50)
                    _ = try await eventually { try await deployment.count("south") == 50 }
                    server.signal(.kill)
                }
                try await load(deployment, "north", from: 100, count: 50)
                try await load(deployment, "south", from: 200, count: 50)
                try await update(deployment, "north", "_id < 30")
                try await update(deployment, "south", "_id BETWEEN 20 AND 50")
                try await deployment.withServer { _ in
                    try await expectEqual(deployment, rows: 150)
                }
            }
        }
    }

    @Test(
        "Two programs write while downloads are applied: every write arrives, no program fails"
    )
    func concurrentWriters() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.withAgent("south") { _ in
                    _ = try await eventually { try await exists(deployment, "north") }
                    _ = try await eventually { try await exists(deployment, "south") }
                    async let downloads: Void = load(
                        deployment,
                        "north",
                        from: 0,
                        count: 1000,
                        perTransaction: 50
                    )
                    async let tool: Void = load(
                        deployment,
                        "south",
                        from: 10_000,
                        count: 300,
                        perTransaction: 5
                    )
                    async let python: Void = loadWithPython(
                        deployment,
                        "south",
                        from: 20_000,
                        count: 300
                    )
                    _ = try await (downloads, tool, python)
                    try await expectEqual(deployment, rows: 1600)
                }
            }
        }
    }

    @Test("Without a running agent, sync completes one round")
    func oneShot() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withServer { _ in
            #expect(try await deployment.sync("north").status == 0)
            try await load(deployment, "north", from: 0, count: 20)
            #expect(try await deployment.sync("north").status == 0)
            #expect(try await deployment.sync("south").status == 0)
            #expect(try await deployment.rows("north") == deployment.rows("south"))
            #expect(try await deployment.count("south") == 20)
        }
        // With nothing to send, the missing server is the only result.
        let outcome = try await deployment.sync("north")
        #expect(outcome.status == 3, "\(outcome.errors)")
    }
}

// MARK: Steps

extension ConvergenceTests {
    private func exists(_ deployment: Deployment, _ agent: String) async throws -> Bool {
        try await Programs.attemptSQL(deployment.file(agent), "SELECT count(*) FROM \"Item\";")
            .status == 0
    }

    private func load(
        _ deployment: Deployment,
        _ agent: String,
        from start: Int,
        count: Int,
        perTransaction size: Int = 100
    ) async throws {
        let isReady = try await eventually { try await exists(deployment, agent) }
        #expect(isReady, "\(deployment.log(agent))")
        var sql = ""
        for first in stride(from: start, to: start + count, by: size) {
            sql += "BEGIN IMMEDIATE;\n"
            for id in first..<min(first + size, start + count) {
                sql += """
                    INSERT INTO "Item"(_id, owner, note, amount, weight, seen)
                    VALUES (\(id), '\(agent)', 'note ''\(id)''', \(id * 3), \(id).5, '2026-01-02 03:04:05');

                    """
            }
            sql += "COMMIT;\n"
        }
        try await Programs.sqlite3(deployment.file(agent), sql)
    }

    private func loadWithPython(
        _ deployment: Deployment,
        _ agent: String,
        from start: Int,
        count: Int
    ) async throws {
        let script = """
            import sqlite3, sys
            db = sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None)
            for number in range(int(sys.argv[2]), int(sys.argv[2]) + int(sys.argv[3])):
                db.execute("BEGIN IMMEDIATE")
                db.execute("INSERT INTO Item(_id, owner, note) VALUES (?, 'python', ?)", (number, "ü%d" % number))
                db.execute("COMMIT")
            """
        let outcome = try await Programs.run(
            "python3",
            ["-c", script, deployment.file(agent), "\(start)", "\(count)"]
        )
        #expect(outcome.status == 0, "\(outcome.errors)")
    }

    private func update(
        _ deployment: Deployment,
        _ agent: String,
        _ condition: String
    ) async throws {
        try await Programs.sqlite3(
            deployment.file(agent),
            "UPDATE \"Item\" SET note = '\(agent)', amount = amount + 1 WHERE \(condition);"
        )
    }

    /// Syncs both agents until they are quiet, and compares their rows one by one.
    private func expectEqual(_ deployment: Deployment, rows: Int) async throws {
        // What the second uploads in the first round reaches the first in the second round.
        for agent in ["north", "south", "north", "south"] {
            let outcome = try await deployment.sync(agent)
            #expect(outcome.status == 0, "\(agent): \(outcome.errors) \(deployment.log(agent))")
        }
        let (north, south) = try await (deployment.rows("north"), deployment.rows("south"))
        #expect(north == south)
        #expect(north.split(separator: "\n").count == rows)
    }
}
