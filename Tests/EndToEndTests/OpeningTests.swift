import FoundationEssentials
import Subprocess
import TestSupport
import Testing

@Suite(
    "Opening a realm whose first download takes long, with the real programs",
    .serialized,
    .timeLimit(.minutes(30))
)
struct OpeningTests {
    /// Passes so many bytes of the server's on each connection, and the rest once the file is gone.
    private static let stallingProxy = """
        import asyncio, os, sys
        port, target, hold, limit = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], int(sys.argv[4])

        async def pump(reader, writer, stalls):
            passed = 0
            try:
                while data := await reader.read(4096):
                    passed += len(data)
                    while stalls and passed > limit and os.path.exists(hold):
                        await asyncio.sleep(0.02)
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass
            finally:
                writer.close()

        async def serve(reader, writer):
            try:
                up = await asyncio.open_connection('127.0.0.1', target)
            except OSError:
                writer.close()
                return
            await asyncio.gather(pump(reader, up[1], False), pump(up[0], writer, True))

        async def main():
            server = await asyncio.start_server(serve, '127.0.0.1', port)
            await server.serve_forever()

        asyncio.run(main())
        """

    private func agent(
        _ deployment: Deployment,
        _ name: String,
        _ arguments: String...
    ) async throws -> Programs.Outcome {
        let files = ["--config", "\(deployment.directory)/\(name).yaml"]
        return try await Programs.run("realm-agent", arguments + files)
    }

    private func state(_ deployment: Deployment) async throws -> String {
        let status = try await agent(deployment, "south", "status", "--json").output
        let parts = status.split(separator: #""state":""#)
        return parts.count > 1 ? String(parts[1].prefix { $0 != "\"" }) : status
    }

    private func isReady(_ deployment: Deployment) async throws -> Bool {
        let reply = try await Programs.run(
            "curl",
            [
                "--silent", "--unix-socket", "\(deployment.directory)/south.sock",
                "http://agent/v1/ready",
            ]
        )
        #expect(reply.status == 0, "\(reply.errors)")
        return reply.output.contains(#""ready":true"#)
    }

    private func isFinished(_ deployment: Deployment) async throws -> String {
        try await Programs.sqlite3(
            deployment.file("south"),
            "SELECT first_download_finished FROM _realm_state;"
        ).filter { $0 != "\n" }
    }

    @Test("\"Once\" means the whole of it: a SIGKILL in the middle leaves a realm that is not open")
    func killed() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        let proxyPort = unusedPort()
        let hold = "\(deployment.directory)/hold"
        try deployment.write("hold", "")
        try deployment.write("proxy.py", Self.stallingProxy)
        try deployment.configure("north")
        try deployment.configure("south", port: proxyPort)
        let text = try String(
            contentsOfFile: "\(deployment.directory)/south.yaml",
            encoding: .utf8
        )
        let location =
            "location: { http: \"http://127.0.0.1:\(proxyPort)\", ws: \"ws://127.0.0.1:\(proxyPort)\" }"
        try deployment.write(
            "south.yaml",
            text.replacing("    backoff:", with: "    \(location)\n    backoff:")
                + "\n    open: { download: once }\n"
        )
        let (rounds, rows) = (20, 2_000)
        try await deployment.withServer { _ in
            try await deployment.withAgent("north") { _ in
                try await deployment.sync("north")
                // Many changesets, so that they come in several messages, and random, so that those
                // stay large on the wire.
                for round in 0..<rounds {
                    try await Programs.sqlite3(
                        deployment.file("north"),
                        """
                        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows))
                        INSERT INTO Item(_id, note)
                          SELECT i + \(round * rows), hex(randomblob(100)) FROM n;
                        """
                    )
                    let sync = try await deployment.sync("north")
                    #expect(sync.status == 0, "\(sync.errors)")
                }
            }
            try await deployment.withDaemon(
                "python3",
                [
                    "\(deployment.directory)/proxy.py", "\(proxyPort)", "\(deployment.port)", hold,
                    "1200000",
                ],
                log: "proxy",
                isUp: { true },
                { _ in try await interruptedOpening(deployment, rounds * rows, hold) }
            )
        }
    }

    private func interruptedOpening(
        _ deployment: Deployment,
        _ count: Int,
        _ hold: String
    ) async throws {
        try await deployment.withAgent("south") { daemon in
            let isUnderWay = try await eventually {
                guard FileManager.default.fileExists(atPath: deployment.file("south")) else {
                    return false
                }
                guard try await state(deployment) == "progress" else { return false }
                let rows = try await deployment.rowCountIfAny("south")
                return rows > 0 && rows < count
            }
            #expect(isUnderWay, "\(deployment.log("south"))")
            let wait = try await agent(
                deployment,
                "south",
                "wait",
                "stock",
                "--for",
                "open",
                "--timeout",
                "1s"
            )
            #expect(wait.status == 124, "\(wait.errors)")
            #expect(try await !isReady(deployment))
            daemon.signal(.kill)
        }
        #expect(try await isFinished(deployment) == "0")
        try await deployment.withAgent("south") { _ in
            // The download continues, but is still incomplete.
            let isUnderWay = try await eventually { try await state(deployment) == "progress" }
            #expect(isUnderWay, "\(deployment.log("south"))")
            #expect(try await isFinished(deployment) == "0")
            let events = try await agent(deployment, "south", "events").output
            #expect(!events.contains(#""state":"open""#), "\(events)")
            #expect(try await !isReady(deployment))

            try FileManager.default.removeItem(atPath: hold)
            let wait = try await agent(
                deployment,
                "south",
                "wait",
                "stock",
                "--for",
                "open",
                "--timeout",
                "180s"
            )
            #expect(wait.status == 0, "\(wait.errors)")
            #expect(try await deployment.count("south") == count)
            #expect(try await state(deployment) == "open")
            #expect(try await isReady(deployment))
            let after = try await agent(deployment, "south", "events").output
            #expect(after.contains(#""state":"open""#))
        }
    }

    @Test("A timeout for opening is reported as it passes, and the exit code gives the reason")
    func late() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("south")
        let text = try String(
            contentsOfFile: "\(deployment.directory)/south.yaml",
            encoding: .utf8
        )
        func limit(_ timeout: String) throws {
            let open = "\n    open: { download: always, timeout: \(timeout) }\n"
            try deployment.write("south.yaml", text + open)
        }
        try limit("180s")
        // The first start needs the server; the second finds none.
        try await deployment.withServer { _ in
            try await deployment.withAgent("south") { _ in
                let wait = try await agent(
                    deployment,
                    "south",
                    "wait",
                    "stock",
                    "--for",
                    "open",
                    "--timeout",
                    "180s"
                )
                #expect(wait.status == 0, "\(wait.errors)")
            }
        }
        try limit("1s")
        try await deployment.withAgent("south") { _ in
            let wait = try await agent(
                deployment,
                "south",
                "wait",
                "stock",
                "--for",
                "open",
                "--timeout",
                "180s"
            )
            #expect(wait.status == 3, "\(wait.errors)")
            let isTold = try await eventually {
                try await agent(deployment, "south", "events").output.contains(
                    "not downloaded within 1s"
                )
            }
            #expect(isTold)
            #expect(try await state(deployment) == "failed")
            #expect(try await !isReady(deployment))
        }
    }
}

extension Deployment {
    /// Nothing as long as there is no table.
    fileprivate func rowCountIfAny(_ agent: String) async throws -> Int {
        let outcome = try await Programs.attemptSQL(file(agent), "SELECT count(*) FROM Item;")
        return Int(outcome.output.filter { !$0.isWhitespace }) ?? 0
    }
}
