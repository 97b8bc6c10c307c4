import FoundationEssentials
import TestSupport
import Testing

@Suite("An anonymous user keeps its identity until an operator decides otherwise")
struct AnonymousUserTests {
    private struct Users: Decodable {
        struct User: Decodable {
            let state: String
            let user_id: String?
        }

        let users: [User]
    }

    private func agent(_ deployment: Deployment, _ arguments: [String]) async throws
        -> Programs.Outcome
    {
        try await Programs.run(
            "realm-agent",
            arguments + ["--config", "\(deployment.directory)/a.yaml"]
        )
    }

    private func user(_ deployment: Deployment) async throws -> Users.User {
        let output = try await agent(deployment, ["users", "list", "--json"]).output
        return try #require(
            try JSONDecoder().decode(Users.self, from: Data(output.utf8)).users.first
        )
    }

    private func server(_ deployment: Deployment, _ arguments: [String]) async throws
        -> Programs.Outcome
    {
        try await Programs.run(
            "realm-server",
            arguments + [
                "--app", Deployment.app, "--config", "\(deployment.directory)/server.yaml",
            ]
        )
    }

    private func row(_ id: Int) -> String {
        "INSERT INTO \"Item\"(_id, owner) VALUES (\(id), 'x');"
    }

    /// The realm `stock` is the user's own; `bad` may not be read, and has the plugin log in again.
    private func configure(_ deployment: Deployment, hasBadRealm: Bool) throws {
        try deployment.configure("a")
        var text = try String(
            contentsOf: URL(filePath: "\(deployment.directory)/a.yaml"),
            encoding: .utf8
        ).replacing(#"{ string: "main" }"#, with: #"{ string: "${user.id}" }"#)
        if hasBadRealm {
            text += """

                  bad:
                    user: a
                    partition: { string: secret }
                    schema: \(deployment.directory)/schema.yaml
                    on_error: [again]
                plugins:
                  again: { use: relogin }
                """
        }
        try deployment.write("a.yaml", text)
    }

    @Test("The plugin relogin refreshes its token, and its realms stay its own after a restart")
    func relogin() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let path = "\(deployment.directory)/server.yaml"
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        try deployment.write(
            "server.yaml",
            text.replacing(
                "    development_mode: true",
                with: "    development_mode: true\n    access: { read: \"partition != 'secret'\" }"
            )
        )
        try configure(deployment, hasBadRealm: false)
        try await deployment.withServer { _ in
            let id = try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                try await Programs.sqlite3(deployment.file("a"), row(1))
                #expect(try await deployment.sync("a").status == 0)
                let id = try await user(deployment).user_id
                try configure(deployment, hasBadRealm: true)
                #expect(try await agent(deployment, ["reload"]).status == 0)
                let isRefreshed = try await eventually {
                    let events = try await agent(deployment, ["events"]).output
                    return events.contains("relogin") && events.contains("token-refreshed")
                }
                #expect(isRefreshed, "\(deployment.log("a"))")
                #expect(try await user(deployment).user_id == id)
                return id
            }
            try await deployment.withAgent("a") { _ in
                #expect(try await user(deployment).user_id == id)
                try await Programs.sqlite3(deployment.file("a"), row(2))
                #expect(try await agent(deployment, ["sync", "stock"]).status == 0)
            }
            let list = try await server(deployment, ["users", "list"]).output
            #expect(list.split(separator: "\n").count { $0.contains("anon") } == 1, "\(list)")
        }
    }

    @Test("Refused by the server it stops, also after a restart, and returns when admitted")
    func refused() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment, hasBadRealm: false)
        try await deployment.withServer { _ in
            let id = try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                let id = try #require(try await user(deployment).user_id)
                #expect(try await server(deployment, ["users", "disable", id]).status == 0)
                try await expectStopped(deployment)
                try await Programs.sqlite3(deployment.file("a"), row(1))
                return id
            }
            try await deployment.withAgent("a") { _ in
                try await expectStopped(deployment)
                #expect(try await user(deployment).user_id == id)
                // What is not uploaded is not moved away without a further word.
                let login = try await agent(deployment, ["users", "login", "a"])
                #expect(login.status != 0 && login.errors.contains("auth.pending_uploads"))
                #expect(try await server(deployment, ["users", "enable", id]).status == 0)
                #expect(try await agent(deployment, ["users", "login", "a"]).status == 0)
                let isBack = try await eventually { try await deployment.sync("a").status == 0 }
                #expect(isBack, "\(deployment.log("a"))")
                #expect(try await user(deployment).user_id == id)
                #expect(try await deployment.count("a") == 1)
            }
        }
    }

    @Test("An operator's log-in makes a new user, and keeps the files of the old one aside")
    func newUser() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment, hasBadRealm: false)
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                try await Programs.sqlite3(deployment.file("a"), row(1))
                #expect(try await deployment.sync("a").status == 0)
                let id = try #require(try await user(deployment).user_id)
                #expect(try await server(deployment, ["users", "disable", id]).status == 0)
                try await expectStopped(deployment)
                let login = try await agent(deployment, ["users", "login", "a"])
                #expect(login.status == 0, "\(login.errors)")
                let isBack = try await eventually { try await deployment.sync("a").status == 0 }
                #expect(isBack, "\(deployment.log("a"))")
                #expect(try await user(deployment).user_id != id)
                #expect(try await deployment.count("a") == 0)
                let kept = try FileManager.default.contentsOfDirectory(
                    atPath: "\(deployment.directory)/a/recovered"
                )
                let file = try #require(kept.first { $0.hasSuffix(".sqlite") })
                let rows = try await Programs.sqlite3(
                    "\(deployment.directory)/a/recovered/\(file)",
                    "SELECT _id FROM \"Item\";"
                )
                #expect(rows == "1\n")
            }
        }
    }

    @Test("After a log-out and a log-in of an operator its realms sync again")
    func logOutAndIn() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try configure(deployment, hasBadRealm: false)
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                #expect(try await agent(deployment, ["users", "logout", "a"]).status == 0)
                let isOut = try await eventually {
                    try await agent(deployment, ["status", "--json"]).output
                        .contains(#""login-required""#)
                }
                let status = try await agent(deployment, ["status", "--json"]).output
                #expect(isOut, "\(status) \(deployment.log("a"))")
                #expect(try await agent(deployment, ["users", "login", "a"]).status == 0)
                let isBack = try await eventually { try await deployment.sync("a").status == 0 }
                #expect(isBack, "\(deployment.log("a"))")
            }
        }
    }

    private func expectStopped(_ deployment: Deployment) async throws {
        let isStopped = try await eventually {
            let status = try await agent(deployment, ["status", "--json"]).output
            return status.contains(#""login-required""#) && status.contains("auth.session_ended")
        }
        #expect(isStopped, "\(deployment.log("a"))")
    }
}
