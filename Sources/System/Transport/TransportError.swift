package import SyncProtocol

/// The reason why a connection failed or ended.
package enum TransportError: Error, Sendable, Equatable {
    case badURL(String)
    /// The host's name is unknown, or nothing listens there.
    case unreachable(reason: String)
    /// The proxy failed to reach the server.
    case proxy(reason: String)
    /// The certificate is not trusted, or the peer does not speak TLS.
    case tls(reason: String)
    /// No connection within the time allowed for name, TCP, TLS and upgrade together.
    case connectTimeout
    /// The server answered the upgrade with another status than 101.
    case rejected(Rejection)
    /// The peer does not speak HTTP, or upgraded to another protocol.
    case notWebSocket(reason: String)
    /// The peer closed with this code.
    case closed(CloseCode, reason: String)
    /// The connection ended without a close frame.
    case lost(reason: String)

    package struct Rejection: Hashable, Sendable {
        package let status: Int
        /// At most 8 KiB of the body.
        package let body: String

        package init(status: Int, body: String) {
            self.status = status
            self.body = body
        }

        /// The server's reason: a body of one line of text, which a page of HTML is not.
        package var sentence: String? {
            let line = body.drop(while: \.isWhitespace).prefix { !$0.isNewline }
            let rest = body[line.endIndex...]
            guard !line.isEmpty, line.utf8.count <= 200, rest.allSatisfy(\.isWhitespace),
                !line.hasPrefix("<"),
                line.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { return nil }
            return String(line)
        }
    }
}

extension TransportError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .badURL(let url): "\(url) is not a ws or wss URL"
        case .unreachable(let reason): "the server cannot be reached: \(reason)"
        case .proxy(let reason): reason
        case .tls(let reason): "TLS fails: \(reason)"
        case .connectTimeout: "the server does not answer in time"
        case .rejected(let rejection):
            "the server rejects the connection with HTTP \(rejection.status)"
                + (rejection.sentence.map { ": \($0)" } ?? "")
        case .notWebSocket(let reason): "the server does not support WebSocket: \(reason)"
        case .closed(let code, let reason):
            "the server closed the connection: \(code.rawValue)\(reason.isEmpty ? "" : " \(reason)")"
        case .lost(let reason): "the connection is lost: \(reason)"
        }
    }
}
