package import AppServices

extension UserSession.Failure {
    /// The code of docs/errors.md.
    package var code: String {
        switch self {
        case .unavailable: "auth.unavailable"
        case .logInRefused: "auth.refused"
        case .anonymousSessionEnded: "auth.session_ended"
        case .loggedOut: "auth.logged_out"
        case .storage: "agent.io_error"
        }
    }

    /// For people, without a remedy.
    package var message: String {
        switch self {
        case .unavailable(let reason), .storage(let reason): reason
        case .logInRefused(let code, let message): "\(message) (\(code))"
        case .anonymousSessionEnded:
            "the server ended the session of this anonymous user, who cannot log in again"
        case .loggedOut: "the user was logged out here"
        }
    }

    /// The message with its code and a remedy, where only one text is shown.
    static let anonymousSessionEndedDetail =
        "\(Self.anonymousSessionEnded.message) [\(Self.anonymousSessionEnded.code)]; "
        + "`realm-agent users login` makes a new user and keeps the files of this one in recovered/"
}
