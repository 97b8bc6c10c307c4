/// The decision of an owner or a handler about an event of a realm.
public struct RealmDecision: Sendable, Equatable {
    /// The engine's action after the event.
    public enum Action: Sendable, Equatable {
        /// The default handling.
        case `continue`
        /// Retries the log-in, the file and the connection after the delay, or at once if it is nil.
        case retry(after: Duration?)
        /// Suspends the realm until this time, in milliseconds since 1970; nil until it is resumed.
        case suspend(until: Int64?)
        /// Stops the sync of the realm until it is resumed.
        case stop
        /// Gets a new access token, by a log-in if the server refuses to refresh.
        case relogin
        /// Resets the realm, in this mode or else the one configured.
        case reset(ResetMode?)
    }

    public let action: Action
    /// The user or plugin that decided, for status and logs.
    public let author: Suspension.Author

    public init(_ action: Action, by author: Suspension.Author = .user) {
        self.action = action
        self.author = author
    }

    /// The default handling, without further requests.
    public static let `continue` = RealmDecision(.continue)

    /// For logs: the plugin that decided; empty for the owner.
    var plugin: String {
        if case .plugin(let name) = author { name } else { "" }
    }
}
