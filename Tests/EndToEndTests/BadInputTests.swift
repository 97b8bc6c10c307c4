import FoundationEssentials
import TestSupport
import Testing

@Suite(
    "Wrong input gives a clear message and damages nothing",
    .serialized,
    .timeLimit(.minutes(30))
)
struct BadInputTests {
    private func agent(_ deployment: Deployment, _ verb: [String]) async throws -> Programs.Outcome
    {
        try await Programs.run(
            "realm-agent",
            verb + ["--config", "\(deployment.directory)/north.yaml"]
        )
    }

    private func expectSynced(_ deployment: Deployment, _ agent: String) async throws {
        let outcome = try await deployment.sync(agent)
        #expect(outcome.status == 0, "\(outcome.errors) \(deployment.log("server"))")
    }

    private func expectStatus(_ deployment: Deployment, toShow word: String) async throws {
        let isShown = try await eventually {
            try await agent(deployment, ["status"]).output.contains(word)
        }
        #expect(isShown, "\(deployment.log("north"))")
    }

    @Test("A malformed configuration is refused with file, line and column")
    func malformedConfiguration() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.write("north.yaml", "version: 1\nrealms:\n  stock: {\n")
        for verb in [["check"], ["run"], ["sync"], ["status"]] {
            let outcome = try await agent(deployment, verb)
            #expect(outcome.status == 2, "\(verb)")
            #expect(outcome.errors.contains("north.yaml:"), "\(outcome.errors)")
        }
    }

    @Test("A file that cannot be a configuration is refused before it is parsed")
    func noConfiguration() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.write("north.yaml", String(repeating: "# much\n", count: 600_000))
        let large = try await agent(deployment, ["check"])
        #expect(large.status == 2)
        #expect(large.errors.contains("north.yaml:1:1: error: "), "\(large.errors)")
        #expect(large.errors.contains("larger than 4 MiB"), "\(large.errors)")

        try deployment.write("north.yaml", "version: 1\n")
        try FileManager.default.createDirectory(
            atPath: "\(deployment.directory)/north.d/10.yaml",
            withIntermediateDirectories: true
        )
        let directory = try await agent(deployment, ["check"])
        #expect(directory.status == 2)
        #expect(directory.errors.contains("10.yaml:1:1: error: "), "\(directory.errors)")
        #expect(directory.errors.contains("is a directory"), "\(directory.errors)")
    }

    @Test("An unknown key is refused at its position, with a suggestion")
    func unknownKey() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.write("north.yaml", "version: 1\nagent:\n  data_directry: /tmp/x\n")
        let outcome = try await agent(deployment, ["check"])
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("north.yaml:3:3"), "\(outcome.errors)")
        #expect(outcome.errors.contains("data_directory"), "\(outcome.errors)")
    }

    @Test("State of a later version ends run and sync with 2, which systemd does not try again")
    func laterState() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        let state = "\(deployment.directory)/north/private"
        try FileManager.default.createDirectory(
            atPath: state,
            withIntermediateDirectories: true
        )
        try await Programs.sqlite3(
            "\(state)/metadata.sqlite",
            "CREATE TABLE layout(version INTEGER); INSERT INTO layout VALUES (99);"
        )
        for verb in ["run", "sync"] {
            let outcome = try await agent(deployment, [verb])
            #expect(outcome.status == 2, "\(verb)")
            #expect(outcome.errors.contains("layout 99"), "\(outcome.errors)")
            #expect(outcome.errors.contains("install the version that wrote it"))
        }
    }

    @Test("A wrong password ends sync with status 4; run keeps running and reports it")
    func wrongPassword() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("south", user: .emailPassword)
        try deployment.configure("north", user: .emailPassword)
        try await deployment.withServer { _ in
            try await expectSynced(deployment, "south")
            try deployment.write("password", "wrong horse\n")
            let outcome = try await deployment.sync("north")
            #expect(outcome.status == 4, "\(outcome.errors)")
            #expect(!outcome.errors.contains("wrong horse"))
            try await deployment.withAgent("north") { _ in
                try await expectStatus(deployment, toShow: "login-required")
            }
        }
        #expect(!deployment.log("north").contains("wrong horse"))
    }

    @Test("A server that is not there ends sync with status 3; run keeps trying")
    func noServer() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        #expect(try await deployment.sync("north").status == 3)
        try await deployment.withAgent("north") { _ in
            try await deployment.withServer { _ in
                try await expectStatus(deployment, toShow: "open")
            }
        }
    }

    @Test("The agent survives a server that answers garbage, and status shows the error")
    func garbageServer() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let script = """
            import socket, sys
            server = socket.socket(); server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            server.bind(("127.0.0.1", int(sys.argv[1]))); server.listen(50)
            server.settimeout(float(sys.argv[2]))
            try:
                while True:
                    peer, _ = server.accept()
                    peer.sendall(b"\\x00\\xff garbage, no HTTP\\r\\n\\r\\n" * 10); peer.close()
            except TimeoutError:
                pass
            """
        try deployment.configure("north")
        async let garbage = Programs.run("python3", ["-c", script, "\(deployment.port)", "8"])
        try await deployment.withAgent("north") { _ in
            try await expectStatus(deployment, toShow: "waiting-for-user")
            let outcome = try await deployment.sync("north")
            #expect(outcome.status == 3, "\(outcome.status) \(outcome.errors)")
        }
        #expect(try await garbage.status == 0)
    }

    @Test("A file that is not a realm is left unchanged")
    func notARealm() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try await deployment.withServer { _ in
            try await expectSynced(deployment, "north")
            let noise = Data((0..<8192).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            for suffix in ["-wal", "-shm"] {
                try? FileManager.default.removeItem(atPath: deployment.file("north") + suffix)
            }
            try noise.write(to: URL(filePath: deployment.file("north")))
            let outcome = try await deployment.sync("north")
            #expect(outcome.status == 2, "\(outcome.status) \(outcome.errors)")
            #expect(outcome.errors.contains("stock.sqlite"), "\(outcome.errors)")
            #expect(FileManager.default.contents(atPath: deployment.file("north")) == noise)
        }
    }

    @Test("A file of another partition is refused and left unchanged")
    func otherPartition() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try await deployment.withServer { _ in
            try await expectSynced(deployment, "north")
            try await Programs.sqlite3(
                deployment.file("north"),
                "INSERT INTO \"Item\"(_id, owner) VALUES (1, 'x');"
            )
            try deployment.configure("north", partition: "another")
            let outcome = try await deployment.sync("north")
            #expect(outcome.status == 2, "\(outcome.status) \(outcome.errors)")
            #expect(outcome.errors.contains("realm.wrong_owner"), "\(outcome.errors)")
            #expect(try await deployment.count("north") == 1)
            // Run stays up: other realms may be fine.
            try await deployment.withAgent("north") { _ in
                try await expectStatus(deployment, toShow: "wrong-owner")
            }
            try deployment.configure("north")
            try await expectSynced(deployment, "north")
        }
    }
}
