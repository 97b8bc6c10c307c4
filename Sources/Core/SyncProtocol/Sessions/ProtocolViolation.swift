package import Versions

/// A server's breach of the protocol; the client closes the connection (wire protocol, 10.2).
package enum ProtocolViolation: Error, Hashable, Sendable {
    case malformed(WireError)
    /// The message is not legal in this state of the session.
    case unexpected(message: String)
    case unknownSession(SessionIdent)
    case badFileIdent
    case badMark(RequestIdent)
    case unexpectedPong
    /// An error whose code does not fit its level, or an unknown one for the connection.
    case badErrorCode(Int)
    case download(DownloadViolation)
    /// A QUERY_ERROR for a set that is complete, or not stored.
    case badQueryError(QueryVersion)
}

extension ProtocolViolation: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed(let error): "\(error)"
        case .unexpected(let message): "unexpected \(message)"
        case .unknownSession(let session): "message for the unknown session \(session.rawValue)"
        case .badFileIdent: "IDENT with a file ident or salt of 0"
        case .badMark(let request): "MARK answers \(request.rawValue), which is not outstanding"
        case .unexpectedPong: "PONG without its PING"
        case .badErrorCode(let code): "error code \(code) does not fit its level"
        case .badQueryError(let version):
            "QUERY_ERROR for query version \(version.rawValue), which is not outstanding"
        case .download(let violation): "DOWNLOAD: \(violation.description)"
        }
    }
}
