import AppServices
import Control
import Logging

/// Publishes and logs the outcomes of log-ins.
extension AgentEvents {
    func publish(_ news: LogInEvent, of user: String, _ logger: Logger) {
        let change = UserPayload.Change(news)
        publish(AgentEvent(realm: nil, .user(UserPayload(user: user, change: change))))
        logger.log(
            level: news.level,
            "log-in changed",
            metadata: ["user": "\(user)", "change": "\(change.rawValue)"]
        )
    }
}

extension UserPayload.Change {
    fileprivate init(_ news: LogInEvent) {
        self =
            switch news {
            case .loggedIn: .loggedIn
            case .tokenRefreshed: .tokenRefreshed
            case .sessionEnded: .sessionEnded
            case .loggedOut: .loggedOut
            case .removed: .removed
            }
    }
}

extension LogInEvent {
    /// Routine changes are logged at a low level.
    fileprivate var level: Logger.Level {
        switch self {
        case .tokenRefreshed: .debug
        // The counterpart of the log-out's message.
        case .loggedIn: .info
        case .loggedOut, .removed: .notice
        case .sessionEnded: .warning
        }
    }
}
