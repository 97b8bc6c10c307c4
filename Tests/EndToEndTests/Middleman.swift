import NIOSSL
import Outbound
import ScriptedPeers
import SyncProtocol
import Synchronization
import Transport

/// A proxy between agents and a server that forwards both ways. Where a test requires it, it sends
/// messages in the server's place that our server never sends.
final class Middleman: Sendable {
    /// The treatment of a client's message.
    enum Verdict {
        case pass
        /// The session ends with this error, as far as the client can tell.
        case refuse(SessionFault)
        /// The connection ends with this code.
        case close(CloseCode)
    }

    typealias Judge = @Sendable (ClientMessage) -> Verdict
    /// Changes the bytes of a server's message.
    typealias Forgery = @Sendable ([UInt8]) -> [UInt8]

    private let judge: Mutex<Judge>
    private let forgery = Mutex<Forgery>({ $0 })
    private let serverPort: Int

    private static let subProtocol = "com.mongodb.realm-sync#14"
    private static let messageLimit = 17 << 20

    private init(_ judge: @escaping Judge, serverPort: Int) {
        self.judge = Mutex(judge)
        self.serverPort = serverPort
    }

    /// Runs the proxy during the body, which gets its port.
    static func with(
        serverPort: Int,
        _ judge: @escaping Judge,
        _ body: (Middleman, Int) async throws -> Void
    ) async throws {
        let middleman = Middleman(judge, serverPort: serverPort)
        try await LoopbackServer.with(
            messageLimit: messageLimit,
            subProtocol: subProtocol,
            serveURI: { try await middleman.serve($0, $1) },
            { try await body(middleman, $0.port) }
        )
    }

    /// From now on everything passes, and as it is.
    func stepAside() {
        judge.withLock { $0 = { _ in .pass } }
        forge { $0 }
    }

    func forge(_ forgery: @escaping Forgery) {
        self.forgery.withLock { $0 = forgery }
    }

    private func serve(_ agent: WebSocketStream, _ uri: String) async throws {
        let parts = uri.split(separator: "?", maxSplits: 1)
        let client = try WebSocketClient(
            tls: .makeClientConfiguration(),
            connectTimeout: .seconds(180),
            maximumMessageSizeInBytes: Self.messageLimit
        )
        try await client.withConnection(
            to: "ws://127.0.0.1:\(serverPort)\(parts[0])",
            .init(query: parts.dropFirst().first.map(String.init), subProtocols: [Self.subProtocol])
        ) { server in
            let relay = Relay(agent: agent, server: server)
            try await withThrowingTaskGroup { group in
                group.addTask { try await relay.passDown { self.forgery.withLock { $0 }($0) } }
                group.addTask { try await relay.passUp { self.judge.withLock { $0 }($0) } }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }
}

/// Both directions of one connection.
private final class Relay: Sendable {
    private let agent: any MessageStream
    private let server: any MessageStream
    /// Sessions that the agent takes for ended, and the server does not.
    private let refused = Mutex<Set<SessionIdent>>([])

    init(agent: any MessageStream, server: any MessageStream) {
        self.agent = agent
        self.server = server
    }

    private func isRefused(_ session: SessionIdent?) -> Bool {
        guard let session else { return false }
        return refused.withLock { $0.contains(session) }
    }

    func passDown(_ forge: Middleman.Forgery) async throws {
        while let bytes = try await server.receive() {
            let message = try ServerMessage(decoding: bytes, context: .partitionClient)
            if !isRefused(message.session) { try await agent.send(forge(bytes)) }
        }
    }

    func passUp(_ judge: (ClientMessage) -> Middleman.Verdict) async throws {
        while let bytes = try await agent.receive() {
            let message = try ClientMessage(decoding: bytes, context: .partitionServer)
            if isRefused(message.session) { continue }
            switch judge(message) {
            case .pass:
                try await server.send(bytes)
            case .refuse(let fault):
                guard let session = message.session else { continue }
                _ = refused.withLock { $0.insert(session) }
                let report = JSONErrorReport(fault, session: session, message: "says the middleman")
                try await agent.send(ServerMessage.jsonError(report).encoded())
            case .close(let code):
                return await agent.close(code, reason: "says the middleman")
            }
        }
    }
}
