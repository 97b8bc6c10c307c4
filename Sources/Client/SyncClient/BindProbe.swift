package import Scopes
package import SyncProtocol
package import Transport

/// Sends BIND to learn whether the server accepts a realm, then UNBIND. No file ident is assigned,
/// and nothing is uploaded or downloaded.
package struct BindProbe: Sendable {
    private let binding: SessionBinding

    package init(_ scope: SyncScope) {
        self.binding = SessionBinding(scope)
    }

    /// The mode of the connection to probe on.
    package var mode: SyncMode { binding.mode }

    /// - Returns: why the server refuses the realm; nil if it does not.
    /// - Throws: the error of the connection.
    package func run(on stream: any MessageStream) async throws -> SessionIssue? {
        _ = try SubProtocol(answer: stream.subProtocol, for: mode)
        let context = WireContext(mode: mode, limits: .client)
        let session = SessionIdent.first
        let bind = ClientMessage.Bind(session: session, path: binding.path, needsFileIdent: false)
        try await stream.send(ClientMessage.bind(bind).encoded())
        try await stream.send(ClientMessage.unbind(session).encoded())
        while let bytes = try await stream.receive() {
            switch try ServerMessage(decoding: bytes, context: context) {
            case .unbound: return nil
            case .jsonError(let report): return SessionIssue(ServerProblem(report))
            case .error(let report): return SessionIssue(ServerProblem(report))
            case .ident, .download, .mark, .queryError, .pong, .logMessage, .testCommand: continue
            }
        }
        throw TransportError.lost(reason: "the server closed the connection")
    }
}
