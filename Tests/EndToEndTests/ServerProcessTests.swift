import FoundationEssentials
import Subprocess
import TestSupport
import Testing

#if canImport(System)
    import System
#else
    import SystemPackage
#endif

@Suite("The server as a process", .serialized, .timeLimit(.minutes(30)))
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
                == "/no/such:1:1: error: cannot be read: no such file or directory; name the "
                + "configuration with --config, or make it readable\n"
        )
    }

    @Test("Neither program leaves its memory, and the tokens in it, in a core dump")
    func coreDumps() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("a")
        try await deployment.withServer { server in
            try await deployment.withAgent("a") { agent in
                for daemon in [server, agent] {
                    let path = "/proc/\(daemon.pid)/limits"
                    let limits = try String(contentsOfFile: path, encoding: .utf8)
                    #expect(limits.contains(#/Max core file size +0 +0 /#))
                }
            }
        }
    }

    @Test(
        "The port chosen for 0 is written to a file, and SIGTERM or SIGINT end the server in order"
    )
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

    @Test("A reload applies the differences; a bad file changes nothing and is reported")
    func reload() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        func dropIn(_ text: String) throws {
            try FileManager.default.createDirectory(
                atPath: "\(deployment.directory)/server.d",
                withIntermediateDirectories: true
            )
            try deployment.write("server.d/10.yaml", text)
        }
        func server(_ verb: String...) async throws -> Programs.Outcome {
            try await Programs.run(
                "realm-server",
                verb + ["--config", "\(deployment.directory)/server.yaml"]
            )
        }
        try deployment.configure("north")
        let none = try await server("reload")
        #expect(none.status == 3, "\(none.errors)")
        try await deployment.withServer { daemon in
            let same = try await server("reload")
            #expect(same.status == 0, "\(same.errors)")
            #expect(same.output == "nothing has changed\n")

            // The command sees what is wrong with the text, the server what is wrong beside it.
            for (text, complaint) in [
                ("apps: { test-app: { x: 1 } }", "server.d/10.yaml:1:21: error: apps.test-app.x"),
                ("apps: { test-app: { schema: /no/such } }", "app.schema: /no/such cannot"),
            ] {
                try dropIn(text)
                let refused = try await server("reload")
                #expect(refused.status == 2)
                #expect(refused.errors.contains(complaint), "\(refused.errors)")
                #expect(try await server("check").status == 2)
                // What asks the server that runs has no need of the file that it refused.
                #expect(try await server("apps", "list").output.contains("test-app"))
            }
            daemon.signal(.terminalClosed)
            let isTold = await eventually {
                deployment.log("server").ranges(of: "server configuration not reloaded").count == 2
            }
            #expect(isTold, "\(deployment.log("server"))")

            try dropIn(
                """
                server: { listen: "127.0.0.1:1", log: { level: debug } }
                apps: { second: { providers: { anonymous: true } } }
                """
            )
            let applied = try await server("reload")
            #expect(applied.status == 0, "\(applied.errors)")
            #expect(
                applied.output == """
                    applied: server.log.level
                    applied: apps.second (new)
                    needs a restart: server.listen

                    """
            )
            #expect(try await server("apps", "list").output.contains("second  sync enabled"))
            let sync = try await deployment.sync("north")
            #expect(sync.status == 0, "\(sync.errors)")
        }
    }

    @Test("An agent logs in through a program of the operator's")
    func customFunction() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.write("payload.json", "{\"card\":{\"$numberLong\":\"7\"}}")
        let script = "cat > $0; echo '\\\"card-7\\\"'"
        let command = "[/bin/sh, -c, \"\(script)\", \(deployment.directory)/asked]"
        try FileManager.default.createDirectory(
            atPath: "\(deployment.directory)/server.d",
            withIntermediateDirectories: true
        )
        try deployment.write(
            "server.d/function.yaml",
            "apps: { test-app: { providers: { function: { command: \(command) } } } }"
        )
        try deployment.configure("north")
        let configuration = "\(deployment.directory)/north.yaml"
        let text = try String(contentsOfFile: configuration, encoding: .utf8)
        try deployment.write(
            "north.yaml",
            text.replacing(
                "provider: anonymous",
                with: "provider: function, payload: { file: \(deployment.directory)/payload.json }"
            )
        )
        try await deployment.withServer { _ in
            let sync = try await deployment.sync("north")
            #expect(sync.status == 0, "\(sync.errors)")
        }
        let asked = try String(contentsOfFile: "\(deployment.directory)/asked", encoding: .utf8)
        #expect(asked.contains("\"payload\":{\"card\":{\"$numberLong\":\"7\"}}"), "\(asked)")
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
