/// What an owner or a handler wants done about something that happened to a realm.
public struct RealmDecision: Sendable, Equatable {
    public enum Action: Sendable, Equatable {
        /// What happens without a decision.
        case `continue`
        /// Tries again what waits for its time: log-in, file, connection.
        case retry(after: Duration?)
        /// Milliseconds since 1970; nil until someone resumes the realm.
        case suspend(until: Int64?)
        /// Sync stops until someone resumes the realm.
        case stop
        /// Gets a new access token, by a log-in if the server refuses to refresh.
        case relogin
        /// Resets the realm, in this mode or else the one configured.
        case reset(ResetMode?)
    }

    public let action: Action
    public let author: Suspension.Author

    public init(_ action: Action, by author: Suspension.Author = .user) {
        self.action = action
        self.author = author
    }

    /// Nobody wants anything else.
    public static let `continue` = RealmDecision(.continue)

    /// For logs: the plugin that decided; empty for the owner.
    var plugin: String {
        if case .plugin(let name) = author { name } else { "" }
    }
}
