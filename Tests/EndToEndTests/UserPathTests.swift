import FoundationEssentials
import Testing

@Suite("Paths with the id of the user", .timeLimit(.minutes(30)))
struct UserPathTests {
    private struct Status: Decodable {
        let realms: [Realm]

        struct Realm: Decodable {
            let path: String
        }
    }

    private struct Users: Decodable {
        let users: [User]

        struct User: Decodable {
            let user_id: String?
        }
    }

    @Test("Each user has a file of its own, which the agent and the commands find")
    func life() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        let yaml = "\(deployment.directory)/a.yaml"
        let text = try String(contentsOfFile: yaml, encoding: .utf8)
        let folder = "\(deployment.directory)/a/files"
        try deployment.write("a.yaml", "\(text)\n    path: \"\(folder)/${user.id}/stock.sqlite\"\n")
        func agent(_ words: String..., input: String = "") async throws -> Programs.Outcome {
            try await Programs.run("realm-agent", words + ["--config", yaml], input: input)
        }
        func path() async throws -> String {
            let outcome = try await agent("status", "--json")
            let status = try JSONDecoder().decode(Status.self, from: Data(outcome.output.utf8))
            return status.realms.first?.path ?? ""
        }
        func user() async throws -> String {
            let outcome = try await agent("users", "list", "--json")
            let users = try JSONDecoder().decode(Users.self, from: Data(outcome.output.utf8))
            return users.users.first?.user_id ?? ""
        }
        var first = ""
        try await deployment.withServer { _ in
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                let id = try await user()
                first = "\(folder)/\(id)/stock.sqlite"
                #expect(try await path() == first)
                let line = #"{"_id":1,"owner":"x"}"#
                let ingest = try await agent("ingest", "stock", "Item", input: line)
                #expect(ingest.status == 0, "\(ingest.errors)")
                #expect(try await deployment.sync("a").status == 0)
                #expect(try await Programs.sqlite3(first, "SELECT owner FROM Item;") == "x\n")
                #expect(try await agent("rejects", "stock").status == 0)
            }
            // Without an agent, the records say which user it is.
            let schema = try await agent("schema", "stock", "--sql")
            #expect(schema.status == 0 && schema.output.contains("Item"), "\(schema.errors)")
            let doctor = try await agent("doctor").output
            #expect(doctor.contains("triggers  stock: present"), "\(doctor)")
            try await deployment.withAgent("a") { _ in
                #expect(try await deployment.sync("a").status == 0)
                #expect(try await path() == first)
                // Another user gets another file; that of the first is set aside.
                #expect(try await agent("users", "logout", "a").status == 0)
                #expect(try await agent("users", "login", "a").status == 0)
                #expect(try await agent("resume", "stock").status == 0)
                #expect(try await deployment.sync("a").status == 0)
                let second = "\(folder)/\(try await user())/stock.sqlite"
                #expect(second != first)
                #expect(try await path() == second)
                #expect(try await Programs.sqlite3(second, "SELECT owner FROM Item;") == "x\n")
                #expect(!FileManager.default.fileExists(atPath: first))
            }
        }
    }
}
