import FoundationEssentials
import Platform
import TestSupport
import Testing

/// Clients that make the server hold as much as it will: memory and connections have bounds, and others
/// are served (docs/server.md, "What it refuses").
@Suite("Floods against a running server", .serialized)
struct FloodTests {
    /// The most memory that a process has had so far, in MiB.
    private func peak(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) / 1024
    }

    /// The memory that a process has now, in MiB; its peak is counted from here on.
    private func memory(of process: Int32) throws -> Int {
        // proc(5): 5 resets the peak to the current size.
        try Data("5".utf8).write(to: URL(filePath: "/proc/\(process)/clear_refs"))
        return try peak(of: process)
    }

    /// Lets the server have settings beside those of the deployment.
    private func add(_ settings: String, to deployment: Deployment) throws {
        try FileManager.default.createDirectory(
            atPath: "\(deployment.directory)/server.d",
            withIntermediateDirectories: true
        )
        try deployment.write("server.d/limits.yaml", settings)
    }

    /// Waits until the server has more for a connection than the kernel takes, and nothing moves.
    private func waitUntilStuck(_ connection: RawConnection, _ deployment: Deployment) async throws
    {
        func queued() throws -> Int? {
            let ports = [deployment.port, Int(try connection.localPort)].map { port in
                let digits = String(port, radix: 16, uppercase: true)
                return ":" + String(repeating: "0", count: 4 - digits.count) + digits
            }
            let table = try #require(KernelFile.text(at: "/proc/net/tcp"))
            for line in table.split(separator: "\n") {
                let fields = line.split(separator: " ")
                guard fields.count > 4, fields[1].hasSuffix(ports[0]), fields[2].hasSuffix(ports[1])
                else { continue }
                return Int(fields[4].prefix { $0 != ":" }, radix: 16) ?? 0
            }
            return nil
        }
        var (last, since) = (0, 0)
        let isStuck = try await eventually {
            let now = try #require(try queued(), "the connection is gone")
            (last, since) = (now, now > 0 && now == last ? since + 1 : 0)
            return since >= 25
        }
        #expect(isStuck, "\(last) bytes wait for the client, the same for \(since) looks")
    }

    private func logIn(_ deployment: Deployment) throws -> String {
        try #require(try deployment.logInAnonymously().field("access_token"))
    }

    private static let size = 16 << 20

    @Test("Messages of clients that take nothing in are not piled up, however large they are")
    func stalled() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try await deployment.withServer { server in
            #expect(try await deployment.sync("north").status == 0)
            // More than the buffers of a connection hold.
            try await Programs.sqlite3(
                deployment.file("north"),
                """
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
                INSERT INTO "Item" (_id, owner, note) SELECT i, 'n', hex(randomblob(32768)) FROM n;
                """
            )
            #expect(try await deployment.sync("north").status == 0)
            let token = try logIn(deployment)
            let before = try memory(of: server.pid)
            var held: [RawConnection] = []
            for _ in 0..<3 {
                let connection = try RawConnection(port: deployment.port, receiveBuffer: 4096)
                try connection.upgrade(Deployment.app, token)
                try connection.sendFrame("bind 1 6 0 1 0\n\"main\"")
                guard case .message(let ident)? = try connection.receiveFrame() else {
                    throw RawConnection.Failure(what: "no IDENT")
                }
                let file = ident.split(whereSeparator: \.isWhitespace).suffix(2)
                try connection.sendFrame("ident 1 \(file.joined(separator: " ")) 0 0 0 0\n")
                try await waitUntilStuck(connection, deployment)
                for number in 0..<300 { try connection.sendFrame("ping \(number) 0\n") }
                var isTaken = true
                for _ in 0..<15 where isTaken {
                    isTaken = try connection.sendWhatIsTaken(
                        RawConnection.frameHead(announcing: Self.size)
                            + [UInt8](repeating: 0x20, count: Self.size),
                        // Taking the mask off takes a while.
                        patienceInSeconds: 6
                    )
                }
                #expect(!isTaken, "the server accepts unlimited input")
                held.append(connection)
            }
            let now = try peak(of: server.pid)
            #expect(now - before < 200, "\(before) MiB became \(now) MiB")
            // The others do not notice.
            #expect(try await deployment.sync("north").status == 0)
            held = []
        }
    }

    @Test("Large messages share the room that is configured for them; small ones need none")
    func incomplete() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try add("server: { limits: { incoming: 32MiB } }", to: deployment)
        try deployment.configure("north")
        try await deployment.withServer { server in
            #expect(try await deployment.sync("north").status == 0)
            let token = try logIn(deployment)
            let before = try memory(of: server.pid)
            var held: [RawConnection] = []
            var taken = 0
            for _ in 0..<12 {
                let connection = try RawConnection(port: deployment.port)
                try connection.upgrade(Deployment.app, token)
                let isTaken = try connection.sendWhatIsTaken(
                    RawConnection.frameHead(announcing: Self.size)
                        + [UInt8](repeating: 0x20, count: Self.size - 1)
                )
                if isTaken { taken += 1 }
                held.append(connection)
            }
            let now = try peak(of: server.pid)
            #expect(now - before < 120, "\(before) MiB became \(now) MiB, \(taken) were taken")
            #expect(try await deployment.sync("north").status == 0)
            // Room that is given back is there for the next.
            held = []
            let waiting = try RawConnection(port: deployment.port)
            try waiting.upgrade(Deployment.app, token)
            try waiting.sendFrame([UInt8](repeating: 0x20, count: Self.size))
            guard case .message(let report)? = try waiting.receiveFrame() else {
                throw RawConnection.Failure(what: "no answer")
            }
            #expect(report.hasPrefix("json_error 10"), "\(report)")
        }
    }

    @Test("Connections are limited in all, by address and by user, and descriptors do not run out")
    func connections() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try add(
            "server: { limits: { connections: 60, connections_per_address: 40, "
                + "connections_per_user: 5 } }",
            to: deployment
        )
        try deployment.configure("north")
        try await deployment.withServer { server in
            #expect(try await deployment.sync("north").status == 0)
            let token = try logIn(deployment)
            var held: [RawConnection] = []
            for _ in 0..<5 {
                held.append(try RawConnection(port: deployment.port))
                try held.last?.upgrade(Deployment.app, token)
            }
            // One more of this user is told to come back later; another user is let in.
            let sixth = try RawConnection(port: deployment.port)
            let refusal = #expect(throws: RawConnection.Failure.self) {
                try sixth.upgrade(Deployment.app, token)
            }
            #expect(
                refusal?.what.hasPrefix("HTTP/1.1 503 ") == true,
                "\(String(describing: refusal))"
            )
            #expect(try await deployment.sync("north").status == 0)
            for _ in 0..<40 { held.append(try RawConnection(port: deployment.port)) }
            let excess = try RawConnection(port: deployment.port)
            try? excess.send("GET / HTTP/1.1\r\n")
            #expect(try excess.readToEnd() == "")
            // Clients that leave make room.
            held = []
            #expect(
                await eventually {
                    (try? await deployment.sync("north", timeout: "5s").status) == 0
                }
            )
        }
    }
}
