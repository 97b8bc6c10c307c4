import FoundationEssentials
import PostgreSQLFixtures
import SQLite
import TestSupport
import Testing

@Suite("A realm is compared with its server", .serialized, .timeLimit(.minutes(30)))
struct VerifyTests {
    private func verify(
        _ deployment: Deployment,
        _ arguments: String...
    ) async throws -> Programs.Outcome {
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        return try await Programs.run("realm-agent", ["verify", "stock"] + arguments + files)
    }

    /// Changes rows without a trigger, as a damaged disk or a faulty program might.
    private func plant(_ deployment: Deployment, _ sql: String) throws {
        let connection = try Connection(path: deployment.file("a"), .init(mode: .readWrite))
        defer { connection.close() }
        try connection.setTriggersEnabled(false)
        try connection.execute("PRAGMA ignore_check_constraints = ON")
        try connection.execute(sql)
    }

    @Test(
        "A row corrupted behind the triggers' back is found, named and repaired",
        arguments: PostgreSQLInstallation.isRequiredOrPresent ? [false, true] : [false]
    )
    func corruptedRows(onPostgreSQL: Bool) async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let database = try onPostgreSQL ? TestDatabase() : nil
        try database.map(deployment.store(in:))
        try deployment.configure("a")
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                try await Programs.sqlite3(
                    deployment.file("a"),
                    """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                    INSERT INTO Item(_id, owner, note, weight) SELECT i, 'o', 'n' || i, i / 7.0 FROM n;
                    """
                )
                let equal = try await verify(deployment)
                #expect(equal.status == 0, "\(equal.errors)\(deployment.log("a"))")
                #expect(equal.output.contains("Item: 3000 objects, equal"))

                try plant(
                    deployment,
                    """
                    UPDATE Item SET note = 'corrupt', amount = 5 WHERE _id = 17;
                    DELETE FROM Item WHERE _id = 18;
                    INSERT INTO Item(_id, owner) VALUES (-4, 'other');
                    UPDATE Item SET seen = 'no time' WHERE _id = 19;
                    """
                )
                let different = try await verify(deployment)
                #expect(different.status == 1)
                let lines = Set(different.output.split(separator: "\n").map(String.init))
                #expect(lines.contains("  different  Item 17: amount, note"), "\(lines)")
                #expect(lines.contains("  missing  Item 18"))
                #expect(lines.contains("  extra  Item -4"))
                #expect(lines.contains("  unreadable  Item 19"))
                #expect(different.output.contains("Item: 3000 objects, different"))

                let json = try await verify(deployment, "--json")
                #expect(json.status == 1)
                #expect(json.output.contains(#""kind":"unreadable""#), "\(json.output)")

                let repaired = try await verify(deployment, "--repair")
                #expect(repaired.status == 0, "\(repaired.output)\(repaired.errors)")
                let row = try await Programs.sqlite3(
                    deployment.file("a"),
                    "SELECT note, amount, (SELECT count(*) FROM Item) FROM Item WHERE _id = 17;"
                )
                #expect(row == "n17||3000\n")
            }
        }
        withExtendedLifetime(database) {}
    }

    /// The realm that is compared: a partition of a server on SQLite, or a view of one on PostgreSQL.
    enum Kind: CaseIterable, Sendable {
        case partition
        case view

        static let here: [Kind] =
            PostgreSQLInstallation.isRequiredOrPresent ? allCases : [.partition]

        /// `a` reads what `b` writes.
        func deployment() throws -> Deployment {
            switch self {
            case .partition:
                let deployment = try Deployment()
                try deployment.configure("a")
                try deployment.configure("b")
                return deployment
            case .view:
                let flexible = try FlexibleDeployment()
                try flexible.configure(
                    "a",
                    subscriptions: "[{ class: Item, query: \"store == 'x'\" }]"
                )
                try flexible.configure(
                    "b",
                    subscriptions: "[{ class: Item, query: TRUEPREDICATE }]"
                )
                return flexible.base
            }
        }

        var filling: String {
            let column = self == .partition ? "owner" : "store"
            return """
                WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)
                INSERT INTO Item(_id, \(column), note) SELECT i, 'x', 'n' || i FROM n;
                """
        }

        /// Changes one of a hundred rows, which enters or leaves the view.
        func write(_ round: Int) -> String {
            switch self {
            case .partition:
                """
                INSERT INTO Item(_id, owner, amount) VALUES (\(round % 50), 'b', \(round))
                ON CONFLICT(_id) DO UPDATE SET amount = excluded.amount;
                """
            case .view:
                """
                INSERT INTO Item(_id, store, amount)
                VALUES (\(round % 50), '\(round % 3 == 0 ? "x" : "y")', \(round % 90))
                ON CONFLICT(_id) DO UPDATE SET store = excluded.store, amount = excluded.amount;
                """
            }
        }
    }

    @Test("Other clients that write meanwhile do not make a difference", arguments: Kind.here)
    func writers(kind: Kind) async throws {
        let deployment = try kind.deployment()
        defer { deployment.remove() }
        let database = try kind == .view ? TestDatabase() : nil
        try database.map(deployment.store(in:))
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                try await deployment.withAgent("b") { _ in
                    #expect(try await deployment.sync("b").status == 0)
                    // So many that others write between the two ends' readings.
                    try await Programs.sqlite3(deployment.file("b"), kind.filling)
                    #expect(try await deployment.sync("b").status == 0)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask {
                            var round = 0
                            while !Task.isCancelled {
                                round += 1
                                _ = try await Programs.attemptSQL(
                                    deployment.file("b"),
                                    kind.write(round)
                                )
                            }
                        }
                        var haveChanged = false
                        for round in 0..<50 where round < 3 || !haveChanged {
                            let outcome = try await verify(deployment, "--json")
                            #expect(outcome.status == 0, "\(outcome.output)\(outcome.errors)")
                            haveChanged =
                                haveChanged
                                || !outcome.output.contains(#""changed_objects":0,"#)
                        }
                        #expect(haveChanged, "no object changed between the readings")
                        group.cancelAll()
                    }
                }
            }
        }
        withExtendedLifetime(database) {}
    }

    @Test("Without a server, and for an unknown realm, the exit status says so")
    func refusals() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        #expect(try await verify(deployment).status == 3)
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                let unknown = try await Programs.run(
                    "realm-agent",
                    ["verify", "none", "--config", "\(deployment.directory)/a.yaml"]
                )
                #expect(unknown.status == 2)
                #expect(try await deployment.sync("a").status == 0)
            }
        }
        try await deployment.withAgent("a") { _ in
            let offline = try await verify(deployment, "--timeout", "2s")
            #expect([3, 124].contains(offline.status), "\(offline.errors)")
            #expect(offline.errors.contains("[verify.not_synced]"))
        }
    }
}
