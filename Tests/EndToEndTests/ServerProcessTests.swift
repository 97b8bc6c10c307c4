import FoundationEssentials
import Subprocess
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

@Suite("The server as a process", .serialized)
struct ServerProcessTests {
    private func serve(_ deployment: Deployment, _ more: [String] = []) async throws
        -> Programs.Outcome
    {
        try await Programs.run(
            "realm-server",
            ["serve", "--config", "\(deployment.directory)/server.yaml"] + more
        )
    }

    @Test("A wrong configuration is refused with everything that is wrong, and nothing is made")
    func wrongConfiguration() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.write(
            "server.yaml",
            "server: { listen: 9090, storage: \"sqlite:\(deployment.directory)/s/x\" }\napp: {}\n"
        )
        for verb in ["check", "serve"] {
            let outcome = try await Programs.run(
                "realm-server",
                [verb, "--config", "\(deployment.directory)/server.yaml"]
            )
            #expect(outcome.status == 2)
            #expect(outcome.errors.contains("server.yaml:1:19: error: server.listen: "))
            #expect(outcome.errors.contains("server.yaml:2:1: error: app: unknown key; "))
        }
        #expect(!FileManager.default.fileExists(atPath: "\(deployment.directory)/s"))
        let missing = try await Programs.run("realm-server", ["check", "--config", "/no/such"])
        #expect(missing.status == 2)
        #expect(
            missing.errors
                == "/no/such: error: cannot be read: there is no such file; name one with --config\n"
        )
    }

    @Test("Port 0 is told in a file, and SIGTERM or SIGINT end the server in order")
    func portFile() async throws {
        for signal in [Signal.terminate, .interrupt] {
            let deployment = try Deployment()
            defer { deployment.remove() }
            let configuration = "\(deployment.directory)/server.yaml"
            let text = try String(contentsOfFile: configuration, encoding: .utf8)
            try deployment.write(
                "server.yaml",
                text.replacing(":\(deployment.port)\n", with: ":0\n")
            )
            let file = "\(deployment.directory)/port"
            let result = try await Subprocess.run(
                .path(FilePath("\(Programs.directory)/realm-server")),
                arguments: ["serve", "--config", configuration, "--port-file", file],
                input: .none,
                output: .discarded,
                error: .string(limit: 1 << 20)
            ) { execution in
                let isThere = await eventually { FileManager.default.fileExists(atPath: file) }
                #expect(isThere)
                let port = try String(contentsOfFile: file, encoding: .utf8)
                #expect(Int(port.filter(\.isNumber)).map { $0 > 0 } == true)
                try execution.send(signal: signal)
                return port.filter(\.isNumber)
            }
            #expect(result.terminationStatus == .exited(0))
            #expect(
                result.standardError.contains(
                    "info Server: listening address=127.0.0.1 port=\(result.closureResult)\n"
                )
            )
            #expect(result.standardError.hasSuffix("info Server: stopped\n"))
        }
    }

    @Test("What keeps the server from running has a code, and status 1")
    func fatalErrors() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try await deployment.withServer { _ in
            let locked = try await serve(deployment)
            #expect(locked.status == 1)
            #expect(locked.errors.contains("code=store.locked"), "\(locked.errors)")
            let configuration = "\(deployment.directory)/server.yaml"
            let text = try String(contentsOfFile: configuration, encoding: .utf8)
            try deployment.write("server.yaml", text.replacing("/server/", with: "/other/"))
            let taken = try await serve(deployment)
            #expect(taken.status == 1)
            #expect(taken.errors.contains("code=server.cannot_listen"), "\(taken.errors)")
            try deployment.write("server.yaml", text)
        }
        let store = "\(deployment.directory)/server/server.sqlite"
        try Data("this is not a database, and long enough to be looked at twice".utf8)
            .write(to: URL(filePath: store))
        let unusable = try await serve(deployment)
        #expect(unusable.status == 2)
        #expect(unusable.errors.contains("code=store.unusable"), "\(unusable.errors)")
    }

    @Test("A server killed at ten different moments loses nothing it has acknowledged")
    func kills() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try deployment.configure("south")
        try await deployment.withServer { _ in
            let outcome = try await deployment.sync("north")
            #expect(outcome.status == 0, "\(outcome.errors)")
        }
        try await deployment.withAgent("north") { _ in
            for round in 0..<10 {
                try await deployment.withServer { server in
                    // Some rounds sync before the kill, others are struck in the middle.
                    for row in 0..<20 {
                        let id = round * 20 + row
                        try await Programs.sqlite3(
                            deployment.file("north"),
                            "INSERT INTO \"Item\" (_id, owner) VALUES (\(id), 'north');"
                        )
                        if row == round * 2 { server.signal(.kill) }
                    }
                }
            }
            try await deployment.withServer { _ in
                for agent in ["north", "south"] {
                    let outcome = try await deployment.sync(agent)
                    #expect(outcome.status == 0, "\(outcome.errors)")
                }
            }
        }
        #expect(try await deployment.count("south") == 200)
        #expect(try await deployment.rows("south") == deployment.rows("north"))
    }
}
