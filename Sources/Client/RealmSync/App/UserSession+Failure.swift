package import AppServices
import SyncProtocol

extension UserSession.Failure {
    /// The code of docs/errors.md.
    package var code: String {
        switch self {
        case .unavailable(_, let kind):
            switch kind {
            case .connection, .silence: "connection.failed"
            case .tls: "connection.tls_failed"
            case nil: "auth.unavailable"
            }
        case .logInRefused(Self.unknownApp, _): Self.unknownApp
        case .logInRefused: "auth.refused"
        case .anonymousSessionEnded: "auth.session_ended"
        case .loggedOut: "auth.logged_out"
        case .storage: "agent.io_error"
        }
    }

    /// The number that the Realm SDKs give this failure, if they know it.
    var sdkCode: SDKErrorCode? {
        switch self {
        case .unavailable(_, .connection?): .connectionFailed
        case .unavailable(_, .tls?): .tlsHandshakeFailed
        case .logInRefused, .anonymousSessionEnded, .loggedOut: .clientUser
        case .unavailable, .storage: nil
        }
    }

    /// For people, without a remedy.
    package var message: String {
        switch self {
        case .unavailable(let reason, _), .storage(let reason): reason
        case .logInRefused(Self.unknownApp, let message): message
        case .logInRefused(let code, let message): "\(message) (\(code))"
        case .anonymousSessionEnded:
            "the server ended the session of this anonymous user, who cannot log in again"
        case .loggedOut: "the user was logged out here"
        }
    }
}
