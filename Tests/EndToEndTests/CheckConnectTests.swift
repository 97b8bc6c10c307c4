import FoundationEssentials
import Testing

@Suite("check --connect, with the real programs", .timeLimit(.minutes(30)))
struct CheckConnectTests {
    @Test("It tries server, log-in and every realm, explains failures, and changes nothing")
    func connect() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let server = try String(
            contentsOfFile: "\(deployment.directory)/server.yaml",
            encoding: .utf8
        )
        try deployment.write(
            "server.yaml",
            server
                + "\n    access: { read: \"partition == 'main'\", write: \"partition == 'main'\" }\n"
        )
        try deployment.configure("guest", user: .emailPassword)
        try deployment.configure("other", user: .emailPassword, partition: "secret")
        try deployment.configure("anonymous")
        func check(_ agent: String, _ options: String...) async throws -> Programs.Outcome {
            let files = ["--config", "\(deployment.directory)/\(agent).yaml"]
            return try await Programs.run("realm-agent", ["check", "--connect"] + options + files)
        }
        let absent = try await check("guest")
        #expect(absent.status == 3, "\(absent.output)\(absent.errors)")
        #expect(absent.output.contains("PROBLEM  server  app: "))

        try await deployment.withServer { _ in
            // There is no such account yet, and looking does not make one.
            for _ in 0..<2 {
                let unknown = try await check("guest")
                #expect(unknown.status == 4, "\(unknown.output)\(unknown.errors)")
                #expect(unknown.output.contains("PROBLEM  log-in  guest: "))
            }
            let path = "\(deployment.directory)/guest"
            #expect(!FileManager.default.fileExists(atPath: path))
            try await deployment.withAgent("guest") { _ in
                let sync = try await deployment.sync("guest")
                #expect(sync.status == 0, "\(sync.errors)")
            }
            let good = try await check("guest")
            #expect(good.status == 0, "\(good.output)\(good.errors)")
            #expect(
                good.output.contains("ok       sync  stock: the server lets partition \"main\" in")
            )
            let refused = try await check("other", "--json")
            #expect(refused.status == 1, "\(refused.output)\(refused.errors)")
            #expect(refused.output.contains(#""check":"sync""#))
            #expect(refused.output.contains("[sync.permission_denied]"))
            // There was no anonymous log-in here.
            let anonymous = try await check("anonymous")
            #expect(anonymous.status == 0, "\(anonymous.output)\(anonymous.errors)")
            #expect(anonymous.output.contains("warning  log-in  anonymous: not tried"))
            try deployment.write("password", "wrong horse\n")
            #expect(try await check("guest").status == 4)
        }
    }
}
