package import SyncProtocol
package import Transport
package import Versions

/// The server's end of a connection, in terms of messages.
package struct ScriptedServer: Sendable {
    package let stream: any MessageStream
    private static let context = WireContext(mode: .partitionBased, limits: .server)

    package init(stream: any MessageStream) {
        self.stream = stream
    }

    /// The client has closed in order.
    package struct Gone: Error {
        package init() {}
    }

    package struct Unexpected: Error {
        let message: ClientMessage
    }

    /// The next message but PING, which is answered.
    package func receive() async throws -> ClientMessage {
        while let bytes = try await stream.receive() {
            if let message = try await answerPing(bytes) { return message }
        }
        throw Gone()
    }

    /// The next message, a PING as well; nil once the client has closed in order.
    package func receiveAny() async throws -> ClientMessage? {
        guard let bytes = try await stream.receive() else { return nil }
        return try ClientMessage(decoding: bytes, context: Self.context)
    }

    /// Answers a PING; any other message is returned.
    @discardableResult
    package func answerPing(_ bytes: [UInt8]) async throws -> ClientMessage? {
        let message = try ClientMessage(decoding: bytes, context: Self.context)
        guard case .ping(let ping) = message else { return message }
        try await send(.pong(timestampInMilliseconds: ping.timestampInMilliseconds))
        return nil
    }

    package func send(_ message: ServerMessage) async throws {
        try await stream.send(message.encoded())
    }

    /// A JSON_ERROR as any server may write it; of the connection if no session is named.
    package func sendError(
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
    package func listen() async throws {
        while true { _ = try await receive() }
    }

    /// Plays BIND and IDENT of a file that has no ident yet, then answers the first MARK.
    package func open(_ file: SaltedFileIdent) async throws -> SessionIdent {
        guard case .bind(let bind) = try await receive() else { throw Gone() }
        guard bind.needsFileIdent else { throw Unexpected(message: .bind(bind)) }
        try await send(.ident(bind.session, file))
        guard case .ident(let ident) = try await receive() else { throw Gone() }
        guard ident.file == file else { throw Unexpected(message: .ident(ident)) }
        try await send(.progress(bind.session, server: 0, client: 0, uploaded: 0))
        guard case .mark(_, let request) = try await receive() else { throw Gone() }
        try await send(.mark(bind.session, request))
        return bind.session
    }
}

extension ServerMessage {
    /// A DOWNLOAD without changesets: how far both ends are.
    package static func progress(
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
