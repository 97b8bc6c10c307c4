import FoundationEssentials
import Glibc
import TestSupport
import Testing

@Suite("Users of a running agent, with the real programs", .serialized, .timeLimit(.minutes(30)))
struct AccountTests {
    /// The configuration of an agent with one user and one realm.
    private func configure(_ deployment: Deployment, user: String) throws {
        try deployment.configure("a")
        let path = "\(deployment.directory)/a.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let user = user.replacing("PASSWORD", with: "\(deployment.directory)/password")
        try deployment.write("a.yaml", text.replacing("provider: anonymous", with: user))
    }

    private func agent(
        _ deployment: Deployment,
        _ words: [String],
        input: String = ""
    ) async throws -> Programs.Outcome {
        let files = ["--config", "\(deployment.directory)/a.yaml"]
        return try await Programs.run("realm-agent", words + files, input: input)
    }

    private func server(
        _ deployment: Deployment,
        _ words: [String]
    ) async throws -> Programs.Outcome {
        let files = ["--config", "\(deployment.directory)/server.yaml", "--app", Deployment.app]
        return try await Programs.run("realm-server", words + files)
    }

    private struct Users: Decodable {
        let users: [User]

        struct User: Decodable {
            let state: String
            let user_id: String?
            let identities: [String]?
        }
    }

    private func user(_ deployment: Deployment) async throws -> Users.User {
        let outcome = try await agent(deployment, ["users", "list", "--json"])
        let users = try JSONDecoder().decode(Users.self, from: Data(outcome.output.utf8))
        return try #require(users.users.first)
    }

    private func state(_ deployment: Deployment) async throws -> String {
        let outcome = try await agent(deployment, ["status", "--json"])
        let pattern = #""state":""#
        let rest = outcome.output.firstRange(of: pattern).map { outcome.output[$0.upperBound...] }
        return String((rest ?? "").prefix { $0 != "\"" })
    }

    private static let emailPassword = Deployment.User.emailPassword.rawValue

    private struct Told: Decodable {
        let custom_data: Item

        struct Item: Decodable, Equatable {
            let _id: [String: String]
            let note: String
        }
    }

    @Test(
        "An anonymous user gets a password, keeps its data, logs out, logs in again, and reads about itself"
    )
    func life() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment, user: "provider: anonymous")
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let source = "{ class: Item, partition: main, user_id_field: owner }"
        try deployment.write("server.yaml", "\(text)\n    custom_user_data: \(source)\n")
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                let before = try await user(deployment)
                #expect(before.identities == ["anon-user"])
                let id = try #require(before.user_id)
                let none = try await agent(deployment, ["users", "custom-data", "a", "--refresh"])
                #expect(none.output == #"{"custom_data":{}}"# + "\n")
                try await Programs.sqlite3(
                    deployment.file("a"),
                    "INSERT INTO \"Item\"(_id, owner, note) VALUES (1, '\(id)', 'blue');"
                )
                #expect(try await deployment.sync("a").status == 0)

                try configure(deployment, user: Self.emailPassword)
                #expect(try await agent(deployment, ["reload"]).status == 0)
                let doctor = try await agent(deployment, ["doctor"])
                #expect(
                    doctor.output.contains(
                        "warning  provider  a: is logged in with anon-user, and the configuration "
                            + "says local-userpass"
                    ),
                    "\(doctor.output)"
                )
                #expect(doctor.output.contains("`realm-agent users link a` keeps"))
                let link = try await agent(deployment, ["users", "link", "a"])
                #expect(link.status == 0, "\(link.errors)")
                let after = try await user(deployment)
                #expect(after.user_id == before.user_id)
                #expect(after.identities?.sorted() == ["anon-user", "local-userpass"])
                let healed = try await agent(deployment, ["doctor"])
                #expect(!healed.output.contains("is logged in with"), "\(healed.output)")

                #expect(try await deployment.sync("a").status == 0)
                #expect(try await agent(deployment, ["users", "logout", "a"]).status == 0)
                #expect(try await eventually { try await state(deployment) == "login-required" })
                #expect(try await deployment.sync("a").status == 4)
                #expect(try await user(deployment).state == "logged-out")
                #expect(try await deployment.count("a") == 1)

                let login = try await agent(deployment, ["users", "login", "a"])
                #expect(login.status == 0, "\(login.errors)")
                #expect(try await deployment.sync("a").status == 0)
                #expect(try await user(deployment).user_id == before.user_id)
                #expect(try await deployment.count("a") == 1)
                let refresh = try await agent(
                    deployment,
                    ["users", "custom-data", "a", "--refresh"]
                )
                let told = try JSONDecoder().decode(Told.self, from: Data(refresh.output.utf8))
                #expect(told.custom_data == Told.Item(_id: ["$numberLong": "1"], note: "blue"))
                let events = try await agent(deployment, ["events"]).output
                for change in ["logged-in", "logged-out", "token-refreshed"] {
                    #expect(events.contains(#""change":"\#(change)""#), "\(events)")
                }
            }
        }
        let log = deployment.log("a")
        #expect(!log.contains("correct horse"))
        #expect(!log.contains("eyJ"), "a token is in the log")
        let metadata = "\(deployment.directory)/a/private/metadata.sqlite"
        let attributes = try FileManager.default.attributesOfItem(atPath: metadata)
        #expect((attributes[.posixPermissions] as? Int) == 0o600)
    }

    private struct Keys: Decodable {
        let api_keys: [Key]

        struct Key: Decodable, Equatable {
            let id: String
            let name: String
            let disabled: Bool
            let key: String?
        }
    }

    private func keys(
        _ deployment: Deployment,
        _ words: [String]
    ) async throws -> [Keys.Key] {
        let outcome = try await agent(deployment, ["users", "api-keys"] + words + ["--json"])
        #expect(outcome.status == 0, "\(outcome.errors)")
        return try JSONDecoder().decode(Keys.self, from: Data(outcome.output.utf8)).api_keys
    }

    @Test("A user makes an API key, another agent logs in with it, and it is disabled and deleted")
    func apiKeys() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment, user: Self.emailPassword)
        let path = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing("anonymous: true,", with: "anonymous: true, api_key: true,")
        )
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                let user = try #require(try await user(deployment).user_id)
                #expect(try await keys(deployment, ["list", "a"]) == [])
                let creation = try await keys(deployment, ["create", "a", "till-9"])
                let made = try #require(creation.first)
                let secret = try #require(made.key)
                #expect(made.name == "till-9" && !made.disabled)
                let verb = ["users", "api-keys"]
                let twice = try await agent(deployment, verb + ["create", "a", "till-9"])
                #expect(twice.status == 1 && twice.errors.contains("[auth.key_exists]"))
                let listed = try await keys(deployment, ["list", "a"])
                #expect(listed.map(\.id) == [made.id] && listed.map(\.key) == [nil])

                let logIn = try keyLogIn(deployment, secret)
                #expect(logIn.status == 200 && logIn.body.contains(user))
                let disabled = try await keys(deployment, ["disable", "a", made.id])
                #expect(disabled.map(\.disabled) == [true])
                #expect(try keyLogIn(deployment, secret).status == 401)
                let enabled = try await keys(deployment, ["enable", "a", made.id])
                #expect(enabled.map(\.disabled) == [false])
                #expect(try keyLogIn(deployment, secret).status == 200)
                #expect(try await keys(deployment, ["delete", "a", made.id]) == [])
                #expect(try keyLogIn(deployment, secret).status == 401)
                let gone = try await agent(deployment, verb + ["delete", "a", made.id])
                #expect(gone.status == 1 && gone.errors.contains("[auth.unknown_key]"))
                #expect(!deployment.log("a").contains(secret), "a key is in the log")
            }
        }
    }

    private func keyLogIn(_ deployment: Deployment, _ key: String) throws -> HTTPReply {
        try deployment.call(
            "POST",
            "/app/\(Deployment.app)/auth/providers/api-key/login",
            #"{"key":"\#(key)"}"#
        )
    }

    @Test(
        "A disabled user ends at login-required, its writes are kept, and it returns when enabled"
    )
    func disabled() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment, user: Self.emailPassword)
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try deployment.write("server.yaml", text.replacing("level: info", with: "level: off"))
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                let id = try #require(try await user(deployment).user_id)
                #expect(try await server(deployment, ["users", "disable", id]).status == 0)
                #expect(try await eventually { try await state(deployment) == "login-required" })
                let isNumbered = try await eventually {
                    try await agent(deployment, ["status", "--json"]).output
                        .contains(#""sdk_code":5"#)
                }
                #expect(isNumbered)
                try await Programs.sqlite3(
                    deployment.file("a"),
                    "INSERT INTO \"Item\"(_id, owner) VALUES (7, 'a');"
                )
                #expect(try await deployment.sync("a").status == 4)

                #expect(try await server(deployment, ["users", "enable", id]).status == 0)
                #expect(try await agent(deployment, ["users", "login", "a"]).status == 0)
                #expect(try await deployment.sync("a").status == 0)
                #expect(try await user(deployment).user_id == id)

                // The audit log records the operator's actions at every log level.
                let audit = deployment.log("server").split(separator: "\n")
                #expect(audit.count == 2)
                for (line, action) in zip(audit, ["disable", "enable"]) {
                    #expect(line.contains(" info Audit: administration "), "\(line)")
                    #expect(line.contains("/users/\(id)/\(action) "), "\(line)")
                    #expect(line.contains(" outcome=done ") && line.contains(" uid=\(getuid())"))
                }
            }
        }
    }

    @Test("An account that has to be confirmed is, with the link that its owner was sent")
    func confirmation() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing("auto_confirm: true", with: "auto_confirm: false")
        )
        try configure(deployment, user: Self.emailPassword)
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 4)
                let resent = try await agent(deployment, ["users", "resend-confirmation", "a"])
                #expect(resent.status == 0, "\(resent.errors)")
                let nothing = try await agent(deployment, ["users", "confirm", "a"], input: "x\n")
                #expect(nothing.status == 2)
                let wrong = try await agent(deployment, ["users", "confirm", "a"], input: "x y\n")
                #expect(wrong.status == 4)
                #expect(wrong.errors.contains("UserpassTokenInvalid"), "\(wrong.errors)")

                let pending = try await server(deployment, ["users", "pending"]).output
                let query = try #require(
                    pending.split(whereSeparator: \.isWhitespace).last { $0.contains("tokenId=") }
                )
                let confirmed = try await agent(
                    deployment,
                    ["users", "confirm", "a"],
                    input: "https://app.example.com/confirm?\(query)\n"
                )
                #expect(confirmed.status == 0, "\(confirmed.errors)")
                #expect(try await agent(deployment, ["users", "login", "a"]).status == 0)
                #expect(try await deployment.sync("a").status == 0)
            }
        }
    }

    @Test("Two users of one agent, each in an app of its own, keep apart")
    func twoApps() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let configuration = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        let app = try #require(text.firstRange(of: "  \(Deployment.app):")).lowerBound
        let other = text[app...].replacing(Deployment.app, with: "other-app")
        try deployment.write("server.yaml", text + "\n" + other)
        try deployment.write(
            "a.yaml",
            """
            version: 1
            agent:
              data_directory: \(deployment.directory)/a
              control_socket: \(deployment.directory)/a.sock
              log: { level: info, output: stderr }
            apps:
              one: { app_id: \(Deployment.app), base_url: "http://127.0.0.1:\(deployment.port)" }
              two: { app_id: other-app, base_url: "http://127.0.0.1:\(deployment.port)" }
            users:
              first: { app: one, provider: anonymous }
              second: { app: two, provider: anonymous }
            realms:
              stock:
                user: first
                partition: { string: main }
                schema: \(deployment.directory)/schema.yaml
              other:
                user: second
                partition: { string: main }
                schema: \(deployment.directory)/schema.yaml
            """
        )
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                try await Programs.sqlite3(
                    deployment.file("a"),
                    "INSERT INTO \"Item\"(_id, owner) VALUES (1, 'first');"
                )
                #expect(try await deployment.sync("a").status == 0)
                let other = "\(deployment.directory)/a/realms/other/other.sqlite"
                let rows = try await Programs.sqlite3(other, "SELECT count(*) FROM \"Item\";")
                #expect(rows == "0\n")
                #expect(try await agent(deployment, ["users", "logout", "second"]).status == 0)
                // The first one's sync is not touched by that.
                let sync = try await Programs.run(
                    "realm-agent",
                    ["sync", "stock", "--config", "\(deployment.directory)/a.yaml"]
                )
                #expect(sync.status == 0, "\(sync.errors)")
            }
        }
    }
}
