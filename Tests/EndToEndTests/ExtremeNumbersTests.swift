import FoundationEssentials
import Glibc
import SQLite
import TestSupport
import Testing

@Suite("Extremes end no program", .serialized, .timeLimit(.minutes(30)))
struct ExtremeNumbersTests {
    private func agent(
        _ deployment: Deployment,
        _ arguments: String...
    ) async throws -> Programs.Outcome {
        let outcome = try await Programs.run(
            "realm-agent",
            arguments + ["--config", "\(deployment.directory)/a.yaml"]
        )
        // 128 and more is a signal, but for what a time-out is told with.
        #expect(outcome.status < 124, "\(arguments): \(outcome.errors)")
        return outcome
    }

    /// All that looks at files and accounts, beside an agent or without one.
    private func look(_ deployment: Deployment, _ name: String) async throws {
        _ = try await agent(deployment, "check")
        _ = try await agent(deployment, "status")
        _ = try await agent(deployment, "status", "--json")
        _ = try await agent(deployment, "users", "list")
        _ = try await agent(deployment, "doctor")
        let bundle = "\(deployment.directory)/bundle-\(name)"
        #expect(try await agent(deployment, "support-bundle", "--output", bundle).status == 0)
    }

    /// A realm with history that was not sent, and a log that was not drained.
    private func prepare(_ deployment: Deployment) async throws {
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                _ = try await deployment.sync("a")
            }
        }
        for key in 1...3 {
            try await Programs.sqlite3(
                deployment.file("a"),
                "INSERT INTO Item(_id, owner) VALUES (\(key), 'x');"
            )
            try await deployment.withAgent("a") { _ in
                let isCaptured = try await eventually {
                    let log = "SELECT count(*) FROM _realm_capture;"
                    return try await Programs.sqlite3(deployment.file("a"), log) == "0\n"
                }
                #expect(isCaptured)
            }
        }
        try await Programs.sqlite3(
            deployment.file("a"),
            "INSERT INTO Item(_id, owner) VALUES (4, 'y'), (5, 'z'); PRAGMA wal_checkpoint(TRUNCATE);"
        )
    }

    @Test("A realm for each column of the agent's tables, poisoned: all others sync, nothing ends")
    func realms() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try await prepare(deployment)
        let columns = try {
            let file = try Connection(path: deployment.file("a"))
            defer { file.close() }
            return try TablePoison.columns(of: file, prefix: "_realm_")
        }()
        #expect(columns.count > 80)
        let healthy = "\(deployment.directory)/a.yaml"
        var text = try String(contentsOfFile: healthy, encoding: .utf8)
        let templates = columns.indices.map { "\(deployment.directory)/a/realms/p\($0)" }
        for (index, directory) in templates.enumerated() {
            text += "\n  p\(index): { user: a, partition: { string: main } }"
            try FileManager.default.createDirectory(
                atPath: directory,
                withIntermediateDirectories: true
            )
        }
        try deployment.write("a.yaml", text)
        // The two that ended the agent for good were a pair of neighbours of this list each.
        for (round, first) in [8, 9].enumerated() {
            var poisoned = 0
            for (index, column) in columns.enumerated() {
                let path = "\(templates[index])/p\(index).sqlite"
                for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
                try FileManager.default.copyItem(atPath: deployment.file("a"), toPath: path)
                let file = try Connection(path: path)
                defer { file.close() }
                try TablePoison.fill(column.table, on: file)
                if try TablePoison.poison(column, from: first, on: file) > 0 { poisoned += 1 }
            }
            #expect(poisoned > columns.count / 2)
            try await deployment.withServer { _ in
                try await deployment.withAgent("a") { daemon in
                    let isSynced = try await eventually {
                        try await agent(deployment, "sync", "--timeout", "60s", "stock").status == 0
                    }
                    #expect(isSynced, "\(deployment.log("a").suffix(3_000))")
                    try await look(deployment, "beside-\(round)")
                    #expect(kill(daemon.pid, 0) == 0, "\(deployment.log("a").suffix(3_000))")
                }
                #expect(try await agent(deployment, "sync", "stock").status == 0)
            }
            try await look(deployment, "alone-\(round)")
        }
        let log = deployment.log("a")
        #expect(!log.contains("Fatal error") && !log.contains("crashed"), "\(log.suffix(3_000))")
        // What was repaired is told with its place, and what cannot be counted on from as well.
        for place in [
            "_realm_capture.at = ", "_realm_history.size = ", "_realm_state.local_version is",
        ] {
            #expect(log.contains(place), "\(place)")
        }
    }

    @Test("With poisoned state and tokens of its own the agent starts, and reports the errors")
    func state() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                _ = try await deployment.sync("a")
            }
        }
        let metadata = "\(deployment.directory)/a/private/metadata.sqlite"
        try await Programs.sqlite3(metadata, "PRAGMA wal_checkpoint(TRUNCATE);")
        let sound = try #require(FileManager.default.contents(atPath: metadata))
        for (index, number) in ["-9223372036854775808", "-1", "9223372036854775807"].enumerated() {
            for suffix in ["-wal", "-shm"] { unlink(metadata + suffix) }
            try sound.write(to: URL(filePath: metadata))
            let claims = Data(#"{"exp":\#(number),"iat":\#(number)}"#.utf8).base64EncodedString()
            let token = "h.\(claims.filter { $0 != "=" }).s"
            let columns = try poisonNumbers(metadata, number, token)
            #expect(columns > 5)
            try await look(deployment, "state-alone-\(index)")
            try await deployment.withServer { _ in
                try await deployment.withAgent("a") { daemon in
                    try await look(deployment, "state-beside-\(index)")
                    #expect(kill(daemon.pid, 0) == 0, "\(deployment.log("a").suffix(3_000))")
                }
            }
        }
        #expect(!deployment.log("a").contains("Fatal error"))
    }

    /// Writes the number into every column but the layout's that takes one, and the token into the account.
    private func poisonNumbers(_ path: String, _ number: String, _ token: String) throws -> Int {
        let file = try Connection(path: path)
        defer { file.close() }
        try file.execute("INSERT OR IGNORE INTO refresh(realm, began_at) VALUES ('stock', 1)")
        try file.execute("UPDATE user SET access_token = '\(token)', refresh_token = '\(token)'")
        var count = 0
        for column in try TablePoison.columns(of: file) where column.table != "layout" {
            let kind =
                "SELECT 1 FROM pragma_table_info('\(column.table)') WHERE name = "
                + "'\(column.name)' AND type LIKE '%INT%'"
            guard try file.integer(kind) == 1, column.name != "is_suspended" else { continue }
            try? file.execute("UPDATE \(column.table) SET \(column.name) = \(number)")
            count += 1
        }
        // A suspension until then.
        try? file.execute("UPDATE realm SET is_suspended = 1")
        return count
    }
}
