import FoundationEssentials
import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

/// Moving an app, 1, 6 and 7, with the real programs.
@Suite("Moving an app, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct ImportTests {
    private static let schema = """
        classes:
          Item:
            primary_key: _id
            properties:
              _id: int
              owner: string
              note: string?
              amount: int?
              weight: double?
              seen: timestamp?
        """

    /// A deployment whose app has a schema and a map, and documents of it.
    private func deployment(documents: Int) throws -> Deployment {
        let deployment = try Deployment()
        let path = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write("import-schema.yaml", Self.schema)
        try deployment.write(
            "server.yaml",
            text + "\n    schema: \(deployment.directory)/import-schema.yaml\n"
        )
        try deployment.write(
            "map.yaml",
            """
            app: \(Deployment.app)
            partition: { key: site, type: string, required: false }
            collections: { shop.items: Item }
            """
        )
        try deployment.write("items.json", Self.lines(0..<documents))
        return deployment
    }

    private static func lines(_ numbers: Range<Int>, note: String = "imported") -> String {
        numbers.map { number in
            #"{"_id":\#(number),"site":"main","owner":"ann","note":"\#(note) \#(number)","amount":\#(number)}"#
        }.joined(separator: "\n") + "\n"
    }

    private func arguments(_ deployment: Deployment, _ verb: [String]) -> [String] {
        verb + [
            "--config", "\(deployment.directory)/server.yaml", "--app", Deployment.app, "--map",
            "\(deployment.directory)/map.yaml",
        ]
    }

    private func load(_ deployment: Deployment, _ file: String = "items.json") async throws
        -> Programs.Outcome
    {
        try await Programs.run(
            "realm-server",
            arguments(deployment, ["import", "data"])
                + ["shop.items=\(deployment.directory)/\(file)"]
        )
    }

    /// Rows of the store that do not contain chance.
    private func dump(_ deployment: Deployment) async throws -> String {
        try await Programs.sqlite3(
            "\(deployment.directory)/server/server.sqlite",
            """
            SELECT class, hex(key), document FROM object ORDER BY 1, 2;
            SELECT class, hex(key), digest FROM imported_object ORDER BY 1, 2;
            SELECT app_id, partition, current_version, history_bytes FROM server_file ORDER BY 1, 2;
            SELECT version, hex(changeset) FROM history ORDER BY 1;
            """
        )
    }

    @Test("An import that is killed ten times, and run again, gives the same store")
    func killed() async throws {
        let whole = try deployment(documents: 30_000)
        defer { whole.remove() }
        let start = ContinuousClock.now
        let outcome = try await load(whole)
        #expect(outcome.status == 0, "\(outcome.errors)")
        let duration = ContinuousClock.now - start
        let expected = try await dump(whole)

        let killed = try deployment(documents: 30_000)
        defer { killed.remove() }
        var random = SystemRandomNumberGenerator()
        var kills = 0
        for attempt in 1...10 {
            // Anywhere in the run; one that ends before it is killed is as good.
            let moment = duration * attempt / 10 * Int.random(in: 50...100, using: &random) / 100
            let result = try await Subprocess.run(
                .path(FilePath("\(Programs.directory)/realm-server")),
                arguments: Arguments(
                    arguments(killed, ["import", "data"])
                        + ["shop.items=\(killed.directory)/items.json"]
                ),
                input: .none,
                output: .discarded,
                error: .discarded
            ) { execution in
                try? await Task.sleep(for: moment)
                try? execution.send(signal: .kill)
            }
            if result.terminationStatus == .signaled(9) { kills += 1 }
        }
        print("killed imports: \(kills) of 10")
        #expect(kills > 0)
        let last = try await load(killed)
        #expect(last.status == 0, "\(last.errors)")
        #expect(last.output.contains("stored 30000"))
        #expect(try await dump(killed) == expected)
    }

    @Test("A file system limit ends the import with status 1, and the next run completes it")
    func noRoom() async throws {
        let deployment = try deployment(documents: 20_000)
        defer { deployment.remove() }
        let command =
            ["\(Programs.directory)/realm-server"]
            + arguments(deployment, ["import", "data"])
            + ["shop.items=\(deployment.directory)/items.json"]
        // 1 MiB for each file; the signal of the limit is ignored, so that writes fail.
        let limited = try await Programs.run(
            "bash",
            ["-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "bash"] + command
        )
        // An error of the store, not a crash: which one depends on the file system.
        #expect((1...2).contains(limited.status), "\(limited.status) \(limited.errors)")
        #expect(limited.errors.contains("store."), "\(limited.errors)")
        let next = try await load(deployment)
        #expect(next.status == 0, "\(next.errors)")
        #expect(next.output.contains("stored 20000"))
    }

    @Test("Beside a running server: its clients get what is imported, and keep what they changed")
    func besideServer() async throws {
        let deployment = try deployment(documents: 2000)
        defer { deployment.remove() }
        try deployment.configure("a")
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                let first = try await load(deployment)
                #expect(first.status == 0, "\(first.errors)")
                // Without a call of ours: the agent hears of it.
                try await until { try await deployment.count("a") == 2000 }
                try await Programs.sqlite3(
                    deployment.file("a"),
                    "UPDATE Item SET note = 'by a client' WHERE _id = 7;"
                )
                #expect(try await deployment.sync("a").status == 0)
                try deployment.write("again.json", Self.lines(0..<2000, note: "later"))
                let again = try await load(deployment, "again.json")
                #expect(again.output.contains("updated 1999"), "\(again.output)")
                #expect(again.output.contains("kept 1"), "\(again.output)")
                try await until {
                    try await deployment.count("a", where: "note LIKE 'later %'") == 1999
                }
                #expect(try await deployment.count("a", where: "note = 'by a client'") == 1)

                let verified = try await Programs.run(
                    "realm-server",
                    arguments(deployment, ["import", "verify"])
                        + ["shop.items=\(deployment.directory)/again.json"]
                )
                #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
                #expect(verified.output.contains("equal 1999"), "\(verified.output)")
                let exported = try await Programs.run(
                    "realm-server",
                    arguments(deployment, ["export"])
                        + ["--all", "--output", "\(deployment.directory)/export"]
                )
                #expect(exported.status == 0, "\(exported.errors)")
                #expect(exported.output.contains("shop.items.json: 2000"), "\(exported.output)")
            }
        }
        #expect(!deployment.log("server").contains("sync/growth"))
    }

    private static let userID = "5f00000000000000000000aa"

    /// The app with one user, who has that id and may read and write the partition of that name.
    private func deploymentWithUser() throws -> Deployment {
        let deployment = try deployment(documents: 0)
        let path = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing(
                "email_password: { auto_confirm: true }",
                with: "email_password: { auto_confirm: true, reset_function: { command: "
                    + "[/bin/echo, '{\"status\":\"success\"}'] } }"
            ) + "\n    access: { read: partition == user.id, write: partition == user.id }\n"
        )
        let id = Self.userID
        try deployment.write("users.json", #"{"_id":"\#(id)","email":"user@example.com"}"# + "\n")
        try deployment.write(
            "items.json",
            #"{"_id":1,"site":"\#(id)","owner":"ann","note":"of before"}"# + "\n"
        )
        return deployment
    }

    /// Loads the data and the user into a store without either.
    private func loadAll(_ deployment: Deployment) async throws {
        #expect(try await load(deployment).status == 0)
        let users = try await Programs.run(
            "realm-server",
            [
                "import", "users", "--config", "\(deployment.directory)/server.yaml", "--app",
                Deployment.app, "\(deployment.directory)/users.json",
            ]
        )
        #expect(users.status == 0, "\(users.errors)")
        #expect(users.output.contains("accounts without password: 1"))
    }

    private func resetPassword(_ deployment: Deployment) throws {
        let reset = try deployment.call(
            "POST",
            "/app/\(Deployment.app)/auth/providers/local-userpass/reset/call",
            #"{"email":"user@example.com","password":"correct horse","arguments":[]}"#
        )
        #expect((200..<300).contains(reset.status), "\(reset.body)")
    }

    /// I11. Files on devices are named after app id, user id and partition: an id that stays keeps their paths.
    @Test(
        "An imported user logs in with no password before a reset, and keeps its id and data after it"
    )
    func users() async throws {
        let deployment = try deploymentWithUser()
        defer { deployment.remove() }
        try await loadAll(deployment)
        try deployment.configure("a", user: .emailPassword, partition: Self.userID)
        try await deployment.withServer { _ in
            for password in ["correct horse", "password"] {
                let refused = try deployment.logIn("user@example.com", password)
                #expect(refused.status == 401, "\(refused.body)")
            }
            try resetPassword(deployment)
            let login = try deployment.logIn("user@example.com", "correct horse")
            #expect(login.field("user_id") == Self.userID, "\(login.body)")
            // Its own realm opens, which no other user may read.
            try await deployment.withAgent("a") { _ in
                let synced = try await deployment.sync("a")
                #expect(synced.status == 0, "\(synced.errors)")
                let count = try await deployment.count("a", where: "note = 'of before'")
                #expect(count == 1)
            }
        }
    }

    @Test(
        "Custom user data in a closed realm are in the user's tokens, and no client opens the realm"
    )
    func closedCustomData() async throws {
        let deployment = try deploymentWithUser()
        defer { deployment.remove() }
        let path = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing("access: { read: partition == user.id", with: "access: { read: true")
                + "    custom_user_data: { class: Person, closed: true, user_id_field: user }\n"
        )
        try deployment.write(
            "import-schema.yaml",
            Self.schema + """

                  Person:
                    primary_key: _id
                    properties: { _id: int, user: string, team: string }

                """
        )
        try deployment.write(
            "map.yaml",
            """
            app: \(Deployment.app)
            partition: { key: site, type: string, required: false }
            collections: { shop.items: Item, shop.people: Person }
            closed: [Person]
            """
        )
        try await loadAll(deployment)
        try deployment.write(
            "people.json",
            #"{"_id":1,"user":"\#(Self.userID)","team":"blue"}"# + "\n"
        )
        let people = try await Programs.run(
            "realm-server",
            arguments(deployment, ["import", "data"])
                + ["shop.people=\(deployment.directory)/people.json"]
        )
        #expect(people.status == 0, "\(people.errors)")
        try deployment.configure("a", partition: "realm-server:closed")
        try await deployment.withServer { _ in
            try resetPassword(deployment)
            let login = try deployment.logIn("user@example.com", "correct horse")
            let token = try #require(login.field("access_token"))
            let claims = Self.payload(of: token)
            #expect(claims.contains(#""team":"blue""#), "\(claims)")
            let synced = try await deployment.sync("a", timeout: "20s")
            #expect(synced.status == 1, "\(synced.status) \(synced.errors)")
        }
    }

    /// The claims of a token, as text.
    private static func payload(of token: String) -> String {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { return "" }
        let text = parts[1].replacing("-", with: "+").replacing("_", with: "/")
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return String(decoding: Data(base64Encoded: text + padding) ?? Data(), as: UTF8.self)
    }

    /// I12. The first server has the part of the hosted service: another store, with other salts and keys.
    @Test(
        "A file of another server keeps its unsynced writes, also if this one has its ident, too",
        arguments: [false, true]
    )
    func foreignFile(identExists: Bool) async throws {
        let deployment = try deploymentWithUser()
        defer { deployment.remove() }
        try await loadAll(deployment)
        for agent in ["a", "b"] {
            try deployment.configure(agent, user: .emailPassword, partition: Self.userID)
        }
        try await deployment.withServer { _ in
            try resetPassword(deployment)
            try await deployment.withAgent("a") { _ in
                let synced = try await deployment.sync("a")
                #expect(synced.status == 0, "\(synced.errors)")
            }
        }
        try await Programs.sqlite3(
            deployment.file("a"),
            """
            INSERT INTO Item(_id, owner, note) VALUES (2, 'ann', 'not uploaded');
            UPDATE Item SET amount = 7 WHERE _id = 1;
            """
        )
        try FileManager.default.removeItem(atPath: "\(deployment.directory)/server")
        try await loadAll(deployment)
        // A fresh store answers foreign tokens with 503 until its server has been restarted once.
        try await deployment.withServer { _ in
            try resetPassword(deployment)
            guard identExists else { return }
            try await deployment.withAgent("b") { _ in
                let synced = try await deployment.sync("b")
                #expect(synced.status == 0, "\(synced.errors)")
            }
        }
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                let synced = try await deployment.sync("a")
                #expect(synced.status == 0, "\(synced.errors)\(deployment.log("a"))")
            }
            try await deployment.withAgent("b") { _ in
                let synced = try await deployment.sync("b")
                #expect(synced.status == 0, "\(synced.errors)")
            }
        }
        #expect(deployment.log("a").contains("client reset finished"), "\(deployment.log("a"))")
        let rows = try await deployment.rows("a")
        let other = try await deployment.rows("b")
        #expect(rows == other)
        #expect(try await deployment.count("b", where: "_id = 2 AND note = 'not uploaded'") == 1)
        #expect(try await deployment.count("b", where: "_id = 1 AND amount = 7") == 1)
    }
}
