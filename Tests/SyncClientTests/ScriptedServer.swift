import SyncProtocol
import Synchronization
import Testing
import Transport
import Versions

@testable import SyncClient

/// An endpoint whose connections lead to a body that plays the server.
final class ScriptedEndpoint: SyncEndpoint {
    typealias Play = @Sendable (ScriptedServer) async throws -> Void

    private struct State {
        var plays: [Play?]
        var token = 1
        var calls: [Call] = []
        var tokens: [String] = []
        var refusal: EndpointFailure?
    }

    /// What the connection asked for beside tokens.
    enum Call: Equatable {
        case refreshToken(String)
        case refreshLocation
        case logOut
    }

    private let state: Mutex<State>

    /// One play for each attempt to connect; where there is none, and after the last, nobody is there.
    init(_ plays: Play?...) {
        self.state = Mutex(State(plays: plays))
    }

    var calls: [Call] { state.withLock { $0.calls } }

    /// With which tokens it was connected to.
    var tokens: [String] { state.withLock { $0.tokens } }

    /// From now on there are no tokens.
    func refuse(_ failure: EndpointFailure?) {
        state.withLock { $0.refusal = failure }
    }

    func token() async throws(EndpointFailure) -> EndpointToken {
        let (number, refusal) = state.withLock { ($0.token, $0.refusal) }
        if let refusal { throw refusal }
        return EndpointToken("token \(number)")
    }

    func refreshToken(replacing token: EndpointToken) async throws(EndpointFailure) {
        let refusal = state.withLock { state in
            state.calls.append(.refreshToken(token.text))
            if state.refusal == nil { state.token += 1 }
            return state.refusal
        }
        if let refusal { throw refusal }
    }

    func refreshLocation() async throws(EndpointFailure) {
        state.withLock { $0.calls.append(.refreshLocation) }
    }

    func logOut() async {
        state.withLock { $0.calls.append(.logOut) }
    }

    func isVerified() async -> Bool { true }

    func withConnection(
        _ token: EndpointToken,
        subProtocols: String,
        _ body: @escaping @Sendable (any MessageStream) async throws -> Void
    ) async throws {
        let play = state.withLock { state in
            state.tokens.append(token.text)
            return state.plays.isEmpty ? nil : state.plays.removeFirst()
        }
        guard let play else { throw TransportError.unreachable(reason: "nobody is there") }
        let pair = InMemoryStream.makePair(subProtocol: "com.mongodb.realm-sync#14")
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { pair.server.cut() }
                try await play(ScriptedServer(stream: pair.server, endpoint: self))
            }
            defer { group.cancelAll() }
            try await body(pair.client)
        }
    }
}

/// The server's end of a connection, in terms of messages.
struct ScriptedServer: Sendable {
    let stream: InMemoryStream
    let endpoint: ScriptedEndpoint
    private static let context = WireContext(mode: .partitionBased, limits: .server)

    struct Gone: Error {}

    /// The next message but PING, which is answered.
    func receive() async throws -> ClientMessage {
        while let bytes = try await stream.receive() {
            if let message = try await answerPing(bytes) { return message }
        }
        throw Gone()
    }

    /// The next message, a PING as well; nil once the client has closed in order.
    func receiveAny() async throws -> ClientMessage? {
        guard let bytes = try await stream.receive() else { return nil }
        return try ClientMessage(decoding: bytes, context: Self.context)
    }

    /// Answers a PING; any other message is returned.
    @discardableResult
    func answerPing(_ bytes: [UInt8]) async throws -> ClientMessage? {
        let message = try ClientMessage(decoding: bytes, context: Self.context)
        guard case .ping(let ping) = message else { return message }
        try await send(.pong(timestampInMilliseconds: ping.timestampInMilliseconds))
        return nil
    }

    func send(_ message: ServerMessage) async throws {
        try await stream.send(message.encoded())
    }

    /// A JSON_ERROR as any server may write it; of the connection if no session is named.
    func sendError(
        _ code: Int,
        action: String,
        tryAgain: Bool,
        _ session: SessionIdent?,
        backoff: (interval: Int, maximum: Int, multiplier: Int)? = nil
    ) async throws {
        let delays = backoff.map {
            #","backoffIntervalSec":\#($0.interval),"backoffMaxDelaySec":\#($0.maximum)"#
                + #","backoffMultiplier":\#($0.multiplier)"#
        }
        let body = """
            {"message":"no","isRecoveryModeDisabled":false,"tryAgain":\(tryAgain),"logURL":"",\
            "shouldClientReset":false,"action":"\(action)"\(delays ?? "")}
            """
        let head = "json_error \(code) \(body.utf8.count) \(session?.rawValue ?? 0)\n"
        try await stream.send(Array((head + body).utf8))
    }

    /// Waits until the client has nothing more to say.
    func listen() async throws {
        while true { _ = try await receive() }
    }

    /// Plays BIND and IDENT of a file that has no ident yet, then answers the first MARK.
    func open(_ file: SaltedFileIdent) async throws -> SessionIdent {
        guard case .bind(let bind) = try await receive() else { throw Gone() }
        #expect(bind.needsFileIdent)
        try await send(.ident(bind.session, file))
        guard case .ident(let ident) = try await receive() else { throw Gone() }
        #expect(ident.file == file)
        try await send(.progress(bind.session, server: 0, client: 0, uploaded: 0))
        guard case .mark(_, let request) = try await receive() else { throw Gone() }
        try await send(.mark(bind.session, request))
        return bind.session
    }
}

extension ServerMessage {
    /// A DOWNLOAD without changesets: how far both ends are.
    static func progress(
        _ session: SessionIdent,
        server: UInt64,
        client: UInt64,
        uploaded: UInt64
    ) -> ServerMessage {
        .download(
            Download(
                session: session,
                progress: SyncProgress(
                    latestServerVersion: SaltedServerVersion(
                        version: ServerVersion(server),
                        salt: Salt(server == 0 ? 0 : 99)
                    ),
                    download: DownloadCursor(
                        serverVersion: ServerVersion(server),
                        lastIntegratedClientVersion: ClientVersion(client)
                    ),
                    upload: UploadCursor(
                        clientVersion: ClientVersion(uploaded),
                        lastIntegratedServerVersion: .zero
                    )
                ),
                extent: .partition(downloadableBytes: 0),
                changesets: []
            )
        )
    }
}
