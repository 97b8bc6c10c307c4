import SyncProtocol
import Transport

/// The end of a connection, or the failure of an attempt.
enum ConnectionEnding: Sendable {
    /// No realm had a use for it any more.
    case voluntary
    /// The server reported an error of the connection.
    case serverProblem(ServerProblem)
    case failed(ConnectionReaction, description: String)

    init(_ error: any Error, isEndpointVerified: Bool) {
        let reaction: ConnectionReaction
        switch error {
        case let report as ServerReport:
            self = .serverProblem(report.problem)
            return
        case let concern as ReconnectRequired:
            self = .failed(.sessionError(concern.problem), description: "\(concern)")
            return
        case let error as TransportError:
            reaction = ConnectionReaction(error, isEndpointVerified: isEndpointVerified)
        case is SubProtocolError:
            reaction = .badSubProtocol
        case is PongTimeout:
            reaction = .pongTimedOut
        case is ProtocolViolation:
            reaction = .protocolViolation
        default:
            reaction = .lost
        }
        self = .failed(reaction, description: "\(error)")
    }
}

/// We ended the connection: the server does not answer.
struct PongTimeout: Error, CustomStringConvertible {
    let reason: DisconnectReason

    var description: String { "the server does not answer PING" }
}

extension ConnectionReaction {
    fileprivate init(_ error: TransportError, isEndpointVerified: Bool) {
        self =
            switch error {
            case .badURL, .unreachable, .proxy:
                .connectFailed(isEndpointVerified: isEndpointVerified)
            case .connectTimeout: .connectTimedOut(isEndpointVerified: isEndpointVerified)
            case .tls: .tlsFailed
            case .notWebSocket: .malformedAnswer(isEndpointVerified: isEndpointVerified)
            case .rejected(let rejection):
                .httpStatus(rejection.status, isEndpointVerified: isEndpointVerified)
            case .closed(let code, _): .closeCode(code)
            case .lost: .lost
            }
    }
}

/// The server refused a session for a reason that the whole connection shares.
struct ReconnectRequired: Error, CustomStringConvertible {
    let problem: ServerProblem

    var description: String { "\(problem.message) [\(problem.dottedCode)]" }
}

/// The server ended the connection with an error of it.
struct ServerReport: Error {
    let problem: ServerProblem
}
