import AsyncHTTPClient
import Changesets
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServerFixtures
import Settings
import SyncProtocol
import Testing
import Transport

@testable import ServerHTTP
@testable import ServerStore

/// Behaviour that needs real sockets: heads, bodies and timeouts.
@Suite("HTTP on a real port", .timeLimit(.minutes(10)))
struct HTTPListenerTests {
    /// Runs the listener, lends its address, and stops it.
    private func withListener<Result: Sendable>(
        timeouts: HTTPTimeouts = HTTPTimeouts(),
        _ body: @escaping @Sendable (ListenAddress, TestApps) async throws -> Result
    ) async throws -> Result {
        let apps = try await TestApps()
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        var listener = HTTPListener(
            address: ListenAddress(host: "127.0.0.1", port: 0),
            services: apps.services,
            gate: SyncGate(accounts: apps.accounts, logger: logger),
            serve: { try? await $0.channel.channel.close() },
            proxies: TrustedProxies(logger: logger),
            clock: apps.clock.wallClock,
            logger: logger
        )
        listener.timeouts = timeouts
        let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
        return try await withThrowingTaskGroup(of: Result?.self) { [listener] group in
            group.addTask {
                try await listener.run { continuation.yield($0) }
                return nil
            }
            group.addTask {
                var iterator = addresses.makeAsyncIterator()
                guard let address = await iterator.next() else { return nil }
                return try await body(address, apps)
            }
            defer { group.cancelAll() }
            while let result = try await group.next() {
                if let result { return result }
            }
            throw CancellationError()
        }
    }

    private func send(
        _ address: ListenAddress,
        _ method: String,
        _ path: String,
        body: ByteBuffer? = nil,
        headers: [(String, String)] = []
    ) async throws -> HTTPClientResponse {
        var request = HTTPClientRequest(url: "http://\(address)/api/client/v2.0\(path)")
        request.method = .init(rawValue: method)
        request.headers.add(contentsOf: headers)
        if let body { request.body = .bytes(body) }
        return try await HTTPClient.shared.execute(request, timeout: .seconds(180))
    }

    /// Writes bytes to a fresh connection and reads what comes back until it is closed.
    private func converse(_ address: ListenAddress, _ text: String) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: address.host, port: address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(
                        wrappingChannelSynchronously: channel
                    )
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            var answer = ""
            do {
                try await outbound.write(ByteBuffer(string: text))
                for try await part in inbound { answer += String(buffer: part) }
            } catch is ChannelError {
                // The server was quicker to close: what it said until then is the answer.
            } catch is IOError {
            }
            return answer
        }
    }

    @Test("X1 L7 A log-in over HTTP; the content type has no parameters")
    func logIn() async throws {
        try await withListener { address, _ throws in
            let reply = try await send(
                address,
                "POST",
                "/app/shop-abcde/auth/providers/anon-user/login",
                headers: [("content-type", "application/json;charset=utf-8")]
            )
            #expect(reply.status == .ok)
            #expect(reply.headers["content-type"] == ["application/json"])
            let body = try await reply.body.collect(upTo: 1 << 16)
            #expect(String(buffer: body).contains("\"refresh_token\""))
            let missing = try await send(address, "GET", "/nonsense")
            #expect(missing.status == .notFound)
            #expect(missing.headers["content-type"] == ["application/json"])
        }
    }

    @Test("A response without body has no content type")
    func logOut() async throws {
        try await withListener { address, apps throws in
            let token = await apps.logInAnonymously().fields["refresh_token"] ?? ""
            let reply = try await send(
                address,
                "DELETE",
                "/auth/session",
                headers: [("authorization", "bearer \(token)")]
            )
            #expect(reply.status == .noContent)
            #expect(reply.headers["content-type"].isEmpty)
        }
    }

    @Test("A body above 4 MiB is refused, one below is read")
    func bodyLimit() async throws {
        try await withListener { address, _ throws in
            let path = "/app/shop-abcde/auth/providers/anon-user/login"
            let limit = ClientAPIRequest.maximumBodySizeInBytes
            let fitting = "{\"x\":\"" + String(repeating: "y", count: limit - 100) + "\"}"
            let accepted = try await send(address, "POST", path, body: ByteBuffer(string: fitting))
            #expect(accepted.status == .ok)
            let large = ByteBuffer(repeating: UInt8(ascii: "y"), count: limit + 1)
            let refused = try await send(address, "POST", path, body: large)
            #expect(refused.status == .payloadTooLarge)
        }
    }

    @Test("The location mirrors the requested host")
    func location() async throws {
        try await withListener { address, _ throws in
            let reply = try await send(address, "GET", "/app/shop-abcde/location")
            let text = String(buffer: try await reply.body.collect(upTo: 1 << 16))
            #expect(text.contains("\"hostname\":\"http://\(address)\""))
            #expect(text.contains("\"ws_hostname\":\"ws://\(address)\""))
        }
    }

    @Test("Several requests share a connection")
    func keepAlive() async throws {
        try await withListener { address, _ throws in
            let request = "GET /api/client/v2.0/app/shop-abcde/location HTTP/1.1\r\nHost: h\r\n"
            let answer = try await converse(
                address,
                "\(request)\r\n\(request)Connection: close\r\n\r\n"
            )
            #expect(answer.split(separator: "HTTP/1.1 200 OK").count == 2)
        }
    }

    @Test("A client that never finishes its first request is dropped")
    func slowRequest() async throws {
        let timeouts = HTTPTimeouts(request: .milliseconds(50), idle: .milliseconds(50))
        try await withListener(timeouts: timeouts) { address, _ throws in
            for beginning in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: h\r\nX: "] {
                #expect(try await converse(address, beginning) == "")
            }
        }
    }

    @Test("A client that never finishes the body of a request is dropped")
    func slowBody() async throws {
        let timeouts = HTTPTimeouts(request: .seconds(6), idle: .seconds(3600))
        try await withListener(timeouts: timeouts) { address, _ throws in
            let head =
                "POST /api/client/v2.0/app/shop-abcde/auth/providers/anon-user/login HTTP/1.1"
            let answer = try await converse(
                address,
                "\(head)\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}"
                    + "\(head)\r\nHost: h\r\nContent-Length: 100\r\n\r\n{"
            )
            // The one before it was answered.
            #expect(answer.ranges(of: "HTTP/1.1 ").count == 1)
            #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\n"))
        }
    }

    @Test("Garbage is not a request")
    func garbage() async throws {
        try await withListener { address, _ throws in
            let answer = try await converse(address, "\u{1}\u{2}\u{3}\r\n\r\n")
            #expect(answer.isEmpty || answer.hasPrefix("HTTP/1.1 400"))
        }
    }

    @Test("Every response has the server's time")
    func date() async throws {
        try await withListener { address, apps throws in
            let date = "Mon, 21 Sep 2026 14:13:20 GMT"
            let found = try await send(address, "GET", "/app/shop-abcde/location")
            #expect(found.headers["date"] == [date])
            let missing = try await send(address, "GET", "/nonsense")
            #expect(missing.headers["date"] == [date])
            let token = await apps.logInAnonymously().fields["access_token"] ?? ""
            let path = "/app/shop-abcde/realm-sync"
            for answer in [
                try await upgrade(address, path: path),
                try await upgrade(address, path: "\(path)?baas_at=\(token)"),
                try await converse(address, "GET / HTTP/9.9\r\n\r\n"),
            ] {
                #expect(
                    answer.lowercased().contains("\r\ndate: \(date.lowercased())\r\n"),
                    "\(answer)"
                )
            }
        }
    }

    @Test("The error for a port in use names it")
    func portInUse() async throws {
        try await withListener { address, apps throws in
            let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
            let second = HTTPListener(
                address: address,
                services: apps.services,
                gate: SyncGate(accounts: apps.accounts, logger: logger),
                serve: { _ in },
                proxies: TrustedProxies(logger: logger),
                clock: apps.clock.wallClock,
                logger: logger
            )
            let error = await #expect(throws: HTTPListener.BindError.self) {
                try await second.run { _ in }
            }
            #expect(error?.description.hasPrefix("cannot listen on \(address): ") == true)
        }
    }

    // MARK: The gate

    private func upgrade(
        _ address: ListenAddress,
        path: String,
        protocols: String? = "com.mongodb.realm-sync#14",
        connection: String = "Upgrade",
        extra: String = ""
    ) async throws -> String {
        let offer = protocols.map { "Sec-WebSocket-Protocol: \($0)\r\n" } ?? ""
        return try await converse(
            address,
            """
            GET /api/client/v2.0\(path) HTTP/1.1\r
            Host: h\r
            Connection: \(connection)\r
            Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
            Sec-WebSocket-Version: 13\r
            Upgrade: websocket\r
            \(offer)\(extra)\r

            """
        )
    }

    @Test("H1 H2 H5 The upgrade is answered with one token and the right hash")
    func accepted() async throws {
        try await withListener { address, apps throws in
            let token = await apps.logInAnonymously().fields["access_token"] ?? ""
            let path = "/app/shop-abcde/realm-sync?baas_at=\(token)"
            for (offer, chosen) in [
                (
                    "com.mongodb.realm-sync#14, com.mongodb.realm-sync#13",
                    "com.mongodb.realm-sync#14"
                ),
                ("com.mongodb.realm-sync#2-9", "com.mongodb.realm-sync#9"),
                (
                    "chat, com.mongodb.realm-sync#5,com.mongodb.realm-sync#7",
                    "com.mongodb.realm-sync#7"
                ),
                ("com.mongodb.realm-sync/7", "com.mongodb.realm-sync/7"),
                ("com.mongodb.realm-query-sync#14", "com.mongodb.realm-query-sync#14"),
            ] {
                let answer = try await upgrade(
                    address,
                    path: path,
                    protocols: offer,
                    connection: "keep-alive, Upgrade"
                )
                #expect(answer.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n"))
                #expect(answer.contains("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="))
                #expect(answer.lowercased().contains("sec-websocket-protocol: \(chosen)\r\n"))
            }
        }
    }

    @Test("H2 H4 Refused upgrades have a status and a line of text as the reason")
    func refused() async throws {
        try await withListener { address, apps throws in
            let login = await apps.logInAnonymously().fields
            let token = login["access_token"] ?? ""
            let other =
                await apps.logInAnonymously(to: TestApps.office).fields["access_token"] ?? ""
            let shop = "/app/shop-abcde/realm-sync"
            for (path, protocols, status) in [
                (shop, "com.mongodb.realm-sync#14", 401),
                ("\(shop)?baas_at=garbage", "com.mongodb.realm-sync#14", 401),
                (
                    "\(shop)?baas_at=\(login["refresh_token"] ?? "")", "com.mongodb.realm-sync#14",
                    401
                ),
                ("\(shop)?baas_at=\(other)", "com.mongodb.realm-sync#14", 401),
                ("/app/unknown/realm-sync?baas_at=\(token)", "com.mongodb.realm-sync#14", 404),
                ("/app/shop-abcde/other?baas_at=\(token)", "com.mongodb.realm-sync#14", 404),
                ("\(shop)?baas_at=\(token)", "com.mongodb.realm-sync#3", 400),
                ("\(shop)?baas_at=\(token)", "com.mongodb.realm-sync#x", 400),
                ("\(shop)?baas_at=\(token)", "com.mongodb.realm-sync#9-3", 400),
                ("\(shop)?baas_at=\(token)", "chat", 400),
                ("\(shop)?baas_at=\(token)", nil, 400),
            ] as [(String, String?, Int)] {
                let answer = try await upgrade(address, path: path, protocols: protocols)
                #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(path) \(protocols ?? "")")
                #expect(answer.contains("connection: close\r\n"))
                #expect(answer.utf8.count < 1024)
            }
            try await apps.disable(UserID(login["user_id"] ?? ""))
            let disabled = try await upgrade(address, path: "\(shop)?baas_at=\(token)")
            #expect(disabled.hasPrefix("HTTP/1.1 403 "))
        }
    }

    @Test("The token may be in a header")
    func headerToken() async throws {
        try await withListener { address, apps throws in
            let token = await apps.logInAnonymously().fields["access_token"] ?? ""
            let answer = try await upgrade(
                address,
                path: "/app/shop-abcde/realm-sync",
                extra: "Authorization: Bearer \(token)\r\n"
            )
            #expect(answer.hasPrefix("HTTP/1.1 101 "))
        }
    }

    @Test("An upgrade without key is malformed")
    func malformedUpgrade() async throws {
        try await withListener { address, _ throws in
            let answer = try await converse(
                address,
                """
                GET /api/client/v2.0/app/shop-abcde/realm-sync HTTP/1.1\r
                Host: h\r
                Connection: Upgrade\r
                Upgrade: websocket\r
                \r

                """
            )
            #expect(answer.hasPrefix("HTTP/1.1 400 "))
        }
    }
}
