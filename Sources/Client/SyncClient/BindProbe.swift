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

    package enum Response: Sendable, Equatable {
        case admitted
        /// The app has changed to flexible sync: clients of a partition continue with subscriptions.
        case movedToFlexibleSync
        case refused(SessionIssue)

        fileprivate init(_ problem: ServerProblem) {
            self =
                SyncErrorCode(rawValue: problem.code) == .migrateToFlexibleSync
                ? .movedToFlexibleSync : .refused(SessionIssue(problem))
        }
    }

    /// - Throws: the error of the connection.
    package func run(on stream: any MessageStream) async throws -> Response {
        _ = try SubProtocol(answer: stream.subProtocol, for: mode)
        let context = WireContext(mode: mode, limits: .client)
        let session = SessionIdent.first
        let bind = ClientMessage.Bind(session: session, path: binding.path, needsFileIdent: false)
        try await stream.send(ClientMessage.bind(bind).encoded())
        try await stream.send(ClientMessage.unbind(session).encoded())
        while let bytes = try await stream.receive() {
            switch try ServerMessage(decoding: bytes, context: context) {
            case .unbound: return .admitted
            case .jsonError(let report): return Response(ServerProblem(report))
            case .error(let report): return Response(ServerProblem(report))
            case .ident, .download, .mark, .queryError, .pong, .logMessage, .testCommand: continue
            }
        }
        throw TransportError.lost(reason: "the server closed the connection")
    }
}
