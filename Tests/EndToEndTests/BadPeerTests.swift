import Changesets
import FoundationEssentials
import SyncProtocol
import TestSupport
import Testing
import Versions

/// Malicious peers of a server process: other clients are not affected, and the memory that such
/// peers cause to be held is bounded (wire protocol, 15).
@Suite("Bad peers of a running server", .serialized, .timeLimit(.minutes(30)))
struct BadPeerTests {
    /// The most memory that a process has had so far, in MiB.
    private func peak(of process: Int32) throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
        return try #require(Int(line.filter(\.isNumber))) / 1024
    }

    /// A well-behaved client with one session.
    private struct Bystander {
        let connection: RawConnection

        init(_ connection: RawConnection, partition: String) throws {
            self.connection = connection
            let path = "\"\(partition)\""
            try connection.sendFrame("bind 1 \(path.utf8.count) 0 1 0\n\(path)")
            guard case .message(let ident)? = try connection.receiveFrame(),
                ident.hasPrefix("ident 1 ")
            else { throw RawConnection.Failure(what: "no IDENT") }
            let file = ident.split(whereSeparator: \.isWhitespace).suffix(2).joined(separator: " ")
            try connection.sendFrame("ident 1 \(file) 0 0 0 0\n")
        }

        /// Whether the server still answers it.
        func isServed(request: Int) throws -> Bool {
            try connection.sendFrame("mark 1 \(request)\n")
            while case .message(let message)? = try connection.receiveFrame() {
                if message == "mark 1 \(request)\n" { return true }
            }
            return false
        }
    }

    /// A message of a few hundred KiB that becomes 60 MiB.
    private static let bomb = ClientMessage.upload(
        .init(
            session: 1,
            progress: UploadCursor(
                clientVersion: ClientVersion(2),
                lastIntegratedServerVersion: .zero
            ),
            lockedServerVersion: .zero,
            changesets: [changeset(2, size: 60 << 20)]
        )
    ).encoded()

    /// One that becomes very many changesets of nothing.
    private static let dust = ClientMessage.upload(
        .init(
            session: 1,
            progress: UploadCursor(
                clientVersion: ClientVersion(400_000),
                lastIntegratedServerVersion: .zero
            ),
            lockedServerVersion: .zero,
            changesets: (2...300_000).map { changeset($0, size: 0) }
        )
    ).encoded()

    private static func changeset(_ version: UInt64, size: Int) -> UploadChangeset {
        UploadChangeset(
            cursor: UploadCursor(
                clientVersion: ClientVersion(version),
                lastIntegratedServerVersion: .zero
            ),
            originTimestamp: OriginTimestamp(1),
            originFileIdent: .none,
            bytes: [UInt8](repeating: 0, count: size)
        )
    }

    @Test("Memory is bounded and others are served, despite what bad peers send or omit")
    func badPeers() async throws {
        let deployment = try Deployment()
        defer { deployment.remove() }
        try deployment.configure("north")
        try await deployment.withServer { server in
            #expect(try await deployment.sync("north").status == 0)
            let token = try #require(try deployment.logInAnonymously().field("access_token"))
            func connect() throws -> RawConnection {
                let connection = try RawConnection(port: deployment.port)
                try connection.upgrade(Deployment.app, token)
                return connection
            }
            let bystander = try Bystander(try connect(), partition: "bystander")
            #expect(try bystander.isServed(request: 1))
            let before = try peak(of: server.pid)
            var held: [RawConnection] = []
            var request = 1
            func expectService(after attack: String, _ limit: Int = 200) throws {
                request += 1
                #expect(try bystander.isServed(request: request), "\(attack)")
                let now = try peak(of: server.pid)
                #expect(now - before < limit, "\(attack): \(before) MiB became \(now) MiB")
            }

            for seed in UInt64(0)..<20 {
                var random = SplitMix64(seed: seed)
                let connection = try connect()
                let count = Int.random(in: 1...4000, using: &random)
                try connection.sendFrame(
                    (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
                )
                guard case .message(let report)? = try connection.receiveFrame() else {
                    Issue.record("no error for seed \(seed)")
                    continue
                }
                #expect(report.hasPrefix("json_error 10"), "\(report)")
            }
            try expectService(after: "garbage")

            for _ in 0..<30 {
                let connection = try connect()
                try connection.send(RawConnection.frameHead(announcing: 16 << 20))
                try connection.send([UInt8](repeating: 0x20, count: 1000))
                held.append(connection)
            }
            try expectService(after: "truncated messages")
            let large = try connect()
            try large.send(RawConnection.frameHead(announcing: 17 << 20))
            #expect(try large.receiveFrame() == .closed(1009))
            try expectService(after: "an oversized message")

            // What they name is long, and not kept: 50 MiB would show.
            let binder = try connect()
            var number = 0
            for (rounds, size) in [(99, 1025), (1, 1 << 19)] {
                let path = String(repeating: "x", count: size)
                for _ in 0..<rounds {
                    for _ in 0..<100 {
                        number += 1
                        try binder.sendFrame("bind \(number) \(size) 0 1 0\n\(path)")
                    }
                    for _ in 0..<100 {
                        guard case .message(let report)? = try binder.receiveFrame() else {
                            throw RawConnection.Failure(what: "no error for a BIND")
                        }
                        #expect(report.hasPrefix("json_error 20"), "\(report)")
                    }
                }
            }
            try expectService(after: "10 000 BINDs", 40)

            #expect(Self.bomb.count < 1 << 19 && Self.dust.count < 1 << 22)
            let bombed = try connect()
            let session = try Bystander(bombed, partition: "bombed")
            #expect(try session.isServed(request: 1))
            try bombed.sendFrame(Self.bomb)
            guard case .message(let report)? = try bombed.receiveFrame() else {
                throw RawConnection.Failure(what: "no error for a bomb")
            }
            #expect(report.hasPrefix("json_error 212 "), "\(report)")
            let dusty = try connect()
            _ = try Bystander(dusty, partition: "dusty").isServed(request: 1)
            try dusty.sendFrame(Self.dust)
            #expect(try dusty.receiveFrame() == .closed(1009))
            try expectService(after: "a bomb")
            // As many as one likes, before the server has answered anything.
            let pile = try connect()
            try pile.sendFrame("bind 1 3 0 0 0\n\"a\"")
            try pile.sendFrame("ident 1 99 99 0 0 0 0\n")
            for _ in 0..<4 { try pile.sendFrame(Self.bomb) }
            guard case .message(let refusal)? = try pile.receiveFrame() else {
                throw RawConnection.Failure(what: "no error for an unknown file")
            }
            #expect(refusal.hasPrefix("json_error 208 1"), "\(refusal)")
            try expectService(after: "a pile of bombs")

            for number in 0..<300 {
                let connection = try RawConnection(port: deployment.port)
                try connection.send(
                    number % 2 == 0
                        ? "GET /api/client/v2.0/app/test-app/loc"
                        : "POST /api/client/v2.0/auth/session HTTP/1.1\r\nHost: h\r\n"
                            + "Content-Length: 4000000\r\n\r\n{"
                )
                held.append(connection)
            }
            for _ in 0..<10 {
                let connection = try connect()
                for number in 0..<3000 { try connection.sendFrame("ping \(number) 0\n") }
                held.append(connection)
            }
            try expectService(after: "slow clients")
            #expect(try await deployment.sync("north").status == 0)
            held = []
            #expect(try await deployment.sync("north").status == 0)
        }
        let log = deployment.log("server")
        #expect(!log.contains(" error "), "\(log.suffix(2000))")
        // Nor can they fill the log.
        #expect(log.split(separator: "\n").count < 200)
        #expect(!log.contains("eyJ"), "a token is in the log")
    }
}
