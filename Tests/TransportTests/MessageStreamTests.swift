import Coordination
import Glibc
import NIOSSL
import ScriptedPeers
import SyncProtocol
import Synchronization
import TestSupport
import Testing

@testable import Transport

/// Requirements on every stream; the real one and its twin pass the same tests.
@Suite("Message streams, over a real WebSocket and in memory", .timeLimit(.minutes(10)))
struct MessageStreamTests {
    enum Kind: CaseIterable {
        case inMemory
        case webSocket
    }

    /// Connects two bodies with each other and waits for both.
    func connect(
        _ kind: Kind,
        server: @escaping @Sendable (any MessageStream) async throws -> Void,
        client: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        switch kind {
        case .inMemory:
            let pair = InMemoryStream.makePair(subProtocol: "test#2")
            async let serving: Void = server(pair.server)
            async let using: Void = client(pair.client)
            _ = try await (serving, using)
        case .webSocket:
            try await LoopbackServer.with { stream in
                try await server(stream)
            } _: { loopback in
                try await loopback.client().withConnection(
                    to: loopback.url,
                    .init(query: "baas_at=secret", subProtocols: ["test#2"])
                ) { stream in
                    try await client(stream)
                }
            }
        }
    }

    static func echo(_ stream: any MessageStream) async throws {
        while let message = try await stream.receive() { try await stream.send(message) }
    }

    @Test("A user other than root connects, too")
    func ordinaryUser() async {
        await #expect(processExitsWith: .success) {
            // Some socket options are for root alone, which most test machines run as.
            if getuid() == 0 { try #require(setuid(65_534) == 0) }
            try await MessageStreamTests().connect(.webSocket, server: Self.echo) { stream in
                try await stream.send([1])
                let answer = try await stream.receive()
                try #require(answer == [1])
                await stream.close(.normal, reason: "")
            }
        }
    }

    @Test("Messages of all sizes arrive whole and in order", arguments: Kind.allCases)
    func order(kind: Kind) async throws {
        try await connect(kind, server: Self.echo) { stream in
            #expect(stream.subProtocol == "test#2")
            let messages = [0, 1, 125, 126, 65_535, 65_536, 300_000].map { size in
                [UInt8](repeating: UInt8(truncatingIfNeeded: size), count: size)
            }
            async let sending: Void = {
                for message in messages { try await stream.send(message) }
            }()
            for message in messages {
                let received = try await stream.receive()
                #expect(received == message)
            }
            try await sending
            await stream.close(.normal, reason: "")
        }
    }

    @Test("A close with code 1000 is the end; any other code is an error", arguments: Kind.allCases)
    func closeCodes(kind: Kind) async throws {
        for code in [CloseCode.normal, .unauthorized, .messageTooBig] {
            try await connect(kind) { stream in
                try await stream.send([1])
                await stream.close(code, reason: "token expired")
            } client: { stream in
                let first = try await stream.receive()
                #expect(first == [1])
                do throws(TransportError) {
                    let second = try await stream.receive()
                    #expect(second == nil)
                    #expect(code == .normal)
                } catch {
                    #expect(error == .closed(code, reason: "token expired"))
                }
            }
        }
    }

    @Test("After our own close nothing is received, and sending fails", arguments: Kind.allCases)
    func afterClose(kind: Kind) async throws {
        try await connect(kind) { stream in
            _ = try? await stream.receive()
        } client: { stream in
            await stream.close(.normal, reason: "")
            await #expect(throws: TransportError.self) { _ = try await stream.receive() }
        }
    }

    @Test(
        "Who does not wait is told when there is a message, and of the end",
        arguments: Kind.allCases
    )
    func wake(kind: Kind) async throws {
        try await connect(kind, server: Self.echo) { stream in
            for number in UInt8(0)..<100 {
                let arrived = Promise<Void>()
                let isReceivable = stream.isReceivable { arrived.keep() }
                #expect(!isReceivable)
                try await stream.send([number])
                await arrived.value
                #expect(stream.isReceivable {})
                let received = try await stream.receive()
                #expect(received == [number])
            }
            let ended = Promise<Void>()
            let isReceivable = stream.isReceivable { ended.keep() }
            #expect(!isReceivable)
            await stream.close(.normal, reason: "")
            await ended.value
            await #expect(throws: TransportError.self) { _ = try await stream.receive() }
        }
    }

    @Test(
        "What the receiver does not take stops the sender, and nothing is lost",
        arguments: Kind.allCases
    )
    func backPressure(kind: Kind) async throws {
        let (count, size) = (400, 100_000)
        let sent = Atomic(0)
        try await connect(kind) { stream in
            for number in 0..<count {
                try await stream.send(
                    [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: size)
                )
                sent.add(1, ordering: .sequentiallyConsistent)
            }
            _ = try await stream.receive()
        } client: { stream in
            // Until two looks in a row find that nothing moves.
            var last = -1
            for _ in 0..<200 where sent.load(ordering: .sequentiallyConsistent) != last {
                last = sent.load(ordering: .sequentiallyConsistent)
                try await Task.sleep(for: .milliseconds(300))
            }
            #expect(last < count)
            for number in 0..<count {
                let received = try await stream.receive()
                #expect(received?.count == size)
                #expect(received?.first == UInt8(truncatingIfNeeded: number))
            }
            await stream.close(.normal, reason: "")
        }
    }

    @Test("A sender that waits for its peer can be cancelled", arguments: Kind.allCases)
    func cancelledSender(kind: Kind) async throws {
        let isDone = Promise<Void>()
        try await connect(kind) { stream in
            await withTaskGroup { group in
                group.addTask {
                    for _ in 0..<1_000 {
                        let message = [UInt8](repeating: 0, count: 1 << 20)
                        guard (try? await stream.send(message)) != nil else { return }
                    }
                }
                try? await Task.sleep(for: .milliseconds(300))
                group.cancelAll()
            }
            isDone.keep()
        } client: { stream in
            await isDone.value
            await stream.close(.normal, reason: "")
        }
    }

    @Test("A cancelled receiver returns", arguments: Kind.allCases)
    func cancellation(kind: Kind) async throws {
        try await connect(kind) { stream in
            _ = try? await stream.receive()
        } client: { stream in
            let receiver = Task { try await stream.receive() }
            receiver.cancel()
            let message = try await receiver.value
            #expect(message == nil)
            await stream.close(.normal, reason: "")
        }
    }
}

@Suite("Opening WebSocket connections", .timeLimit(.minutes(10)))
struct WebSocketClientTests {
    /// A TCP server that sends the same bytes in response to any request.
    func answering(
        _ answer: String,
        _ body: (Int) async throws -> Void
    ) async throws {
        try await RawServer.with(answer: Array(answer.utf8), body)
    }

    func connect(port: Int, timeout: Duration = .seconds(180)) async -> TransportError? {
        do {
            let client = try WebSocketClient(
                tls: .makeClientConfiguration(),
                connectTimeout: timeout,
                maximumMessageSizeInBytes: 1 << 20
            )
            try await client.withConnection(
                to: "ws://127.0.0.1:\(port)/",
                .init(query: "baas_at=verysecret", subProtocols: ["a"])
            ) { _ in }
            return nil
        } catch {
            #expect(!"\(error)".contains("verysecret"))
            return error as? TransportError
        }
    }

    @Test("The status and body of a refusal are reported")
    func rejection() async throws {
        let answer = "HTTP/1.1 401 Unauthorized\r\nContent-Length: 4\r\n\r\nnope"
        try await answering(answer) { port in
            #expect(await connect(port: port) == .rejected(.init(status: 401, body: "nope")))
        }
    }

    @Test("A refusal's body is kept up to 8 KiB, in any framing")
    func rejectionBodies() async throws {
        let long = String(repeating: "x", count: 10_000)
        let kept = String(repeating: "x", count: 8192)
        let head = "HTTP/1.1 503 Service Unavailable\r\n"
        for (answer, body) in [
            (head + "Content-Length: 10000\r\n\r\n" + long, kept),
            (head + "Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n3\r\npe.\r\n0\r\n\r\n", "nope."),
            (head + "Content-Length: 0\r\n\r\n", ""),
            (head + "\r\ntill the end", "till the end"),
        ] {
            try await answering(answer) { port in
                #expect(await connect(port: port) == .rejected(.init(status: 503, body: body)))
            }
        }
    }

    @Test(
        "A rejection names the server's reason if that is one line of text",
        arguments: [
            ("sync of this app is paused\n", ": sync of this app is paused"),
            ("", ""), ("<html><body>no</body></html>", ""), ("two\nlines", ""),
            ("\u{1b}[31mred", ""), (String(repeating: "x", count: 201), ""),
        ]
    )
    func rejectionSentences(body: String, sentence: String) {
        let error = TransportError.rejected(.init(status: 503, body: body))
        #expect("\(error)" == "the server rejects the connection with HTTP 503\(sentence)")
    }

    @Test("Where nothing listens, the connection is refused, in plain words")
    func nothingListens() async {
        #expect(
            await connect(port: 1) == .unreachable(reason: "127.0.0.1:1: Connection refused")
        )
    }

    @Test("A server that masks its frames is disconnected")
    func maskedFrames() async throws {
        try await LoopbackServer.with(role: .client) { stream in
            try? await stream.send([1])
            _ = try? await stream.receive()
        } _: { loopback in
            try await loopback.client().withConnection(
                to: loopback.url,
                .init(query: nil, subProtocols: [])
            ) { stream in
                let failure: TransportError? = await #expect(throws: TransportError.self) {
                    _ = try await stream.receive()
                }
                #expect(failure == .lost(reason: "the peer broke the WebSocket protocol"))
            }
        }
    }

    @Test("Two messages in one piece with the upgrade response are both received")
    func eagerServer() async throws {
        try await LoopbackServer.with { stream in
            try await stream.send([1])
            try await stream.send([2])
            _ = try await stream.receive()
        } _: { loopback in
            try await loopback.client().withConnection(
                to: loopback.url,
                .init(query: nil, subProtocols: [])
            ) { stream in
                let messages = try await [stream.receive(), stream.receive()]
                #expect(messages == [[1], [2]])
                await stream.close(.normal, reason: "")
            }
        }
    }

    @Test(
        "A peer with another protocol is an error, not a hang",
        arguments: [
            "garbage\r\n\r\n", "\u{0}\u{1}\u{2}", "HTTP/1.1 101 Switching Protocols\r\n\r\n", "",
        ]
    )
    func garbage(answer: String) async throws {
        try await answering(answer) { port in
            #expect(await connect(port: port) != nil)
        }
    }

    @Test("A port without a listener is unreachable")
    func unusedPort() async throws {
        var free = 0
        try await answering("") { free = $0 }
        let error = await connect(port: free)
        guard case .unreachable = error else {
            Issue.record("unexpected \(String(describing: error))")
            return
        }
    }

    @Test("A peer that never responds is ended by the watchdog")
    func silence() async throws {
        try await RawServer.with(answer: nil) { port in
            #expect(await connect(port: port, timeout: .milliseconds(200)) == .connectTimeout)
        }
    }

    @Test("A message over the limit ends the connection for its receiver")
    func tooBig() async throws {
        // The server is cancelled when the client is done, so the client waits for it.
        let isRefused = Mutex(false)
        try await LoopbackServer.with(messageLimit: 1000) { stream in
            await #expect(throws: TransportError.self) { _ = try await stream.receive() }
            isRefused.withLock { $0 = true }
        } _: { loopback in
            try await loopback.client().withConnection(
                to: loopback.url,
                .init(query: nil, subProtocols: [])
            ) { stream in
                try? await stream.send([UInt8](repeating: 7, count: 2000))
                do throws(TransportError) {
                    _ = try await stream.receive()
                    Issue.record("the connection continued")
                } catch {
                    guard case .closed(.messageTooBig, _) = error else {
                        Issue.record("unexpected \(error)")
                        return
                    }
                }
                try? await until { isRefused.withLock { $0 } }
            }
        }
    }

    @Test(
        "URLs are parsed, or refused",
        arguments: [
            ("ws://a", "a", 80, "/"), ("wss://a.b/c/d", "a.b", 443, "/c/d"),
            ("ws://[::1]:9/x", "::1", 9, "/x"), ("ws://a:7800/", "a", 7800, "/"),
        ]
    )
    func urls(text: String, host: String, port: Int, path: String) {
        let url = WebSocketURL(text)
        #expect(url?.host == host)
        #expect(url?.port == port)
        #expect(url?.path == path)
    }

    @Test(
        "A text that is not a plain ws URL is refused",
        arguments: [
            "http://a", "ws://", "ws://a:b/", "ws://u@a/", "ws://a/?q", "ws://a/#f", "a",
            "ws://a:0/",
            "ws://a/x\r\ny", "ws://a:99999/",
        ]
    )
    func badURLs(text: String) {
        #expect(WebSocketURL(text) == nil)
    }
}
