import FoundationEssentials
import Glibc
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
            // There is no such account yet: the agent would register it, and looking does not.
            for _ in 0..<2 {
                let unknown = try await check("guest")
                #expect(unknown.status == 0, "\(unknown.output)\(unknown.errors)")
                #expect(unknown.output.contains("warning  log-in  guest: the server refused it"))
                #expect(unknown.output.contains("register: true"))
            }
            #expect(try await users(deployment) == "")
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

    private func users(_ deployment: Deployment) async throws -> String {
        let configuration = "\(deployment.directory)/server.yaml"
        let words = ["users", "list", "--app", Deployment.app, "--config", configuration]
        let listed = try await Programs.run("realm-server", words)
        #expect(listed.status == 0, "\(listed.errors)")
        return listed.output
    }

    @Test("A user of another service whom the server does not know yet is not made by the check")
    func newUsers() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let path = "\(deployment.directory)/server.yaml"
        let server = try String(contentsOfFile: path, encoding: .utf8)
        try deployment.write("identify", "#!/bin/sh\ncat >/dev/null\necho '\"till-7\"'\n")
        chmod("\(deployment.directory)/identify", 0o755)
        try deployment.write(
            "server.yaml",
            server.replacing(
                "anonymous: true,",
                with: "function: { command: [\(deployment.directory)/identify] },"
            )
        )
        try deployment.configure("a")
        let file = "\(deployment.directory)/a.yaml"
        let text = try String(contentsOfFile: file, encoding: .utf8)
        try deployment.write("payload", #"{"till":7}"#)
        try deployment.write(
            "a.yaml",
            text.replacing(
                "provider: anonymous",
                with: "provider: function, payload: { file: \(deployment.directory)/payload }"
            )
        )
        func check() async throws -> Programs.Outcome {
            try await Programs.run("realm-agent", ["check", "--connect", "--config", file])
        }
        try await deployment.withServer { _ in
            let unknown = try await check()
            #expect(unknown.status == 0, "\(unknown.output)\(unknown.errors)")
            #expect(unknown.output.contains("warning  log-in  a: not tried: the first log-in"))
            #expect(try await users(deployment) == "")
            try await deployment.withAgent("a") { _ in
                let sync = try await deployment.sync("a")
                #expect(sync.status == 0, "\(sync.errors)")
            }
            let made = try await users(deployment)
            #expect(made != "")
            let known = try await check()
            #expect(known.status == 0, "\(known.output)\(known.errors)")
            #expect(known.output.contains("ok       log-in  a: as "))
            #expect(try await users(deployment) == made)
        }
    }
}
