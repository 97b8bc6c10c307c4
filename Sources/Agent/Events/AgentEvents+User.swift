import AppServices
import Control
import Logging

/// What users' log-ins come to, as events and in the log.
extension AgentEvents {
    func publish(_ news: UserNews, of user: String, _ logger: Logger) {
        let change = UserFact.Change(news)
        publish(AgentEvent(realm: nil, .user(UserFact(user: user, change: change))))
        logger.log(
            level: news.level,
            "log-in changed",
            metadata: ["user": "\(user)", "change": "\(change.rawValue)"]
        )
    }
}

extension UserFact.Change {
    fileprivate init(_ news: UserNews) {
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

extension UserNews {
    /// What goes by itself is not worth a line.
    fileprivate var level: Logger.Level {
        switch self {
        case .tokenRefreshed: .debug
        // Shown where the log says that the user was logged out.
        case .loggedIn: .info
        case .loggedOut, .removed: .notice
        case .sessionEnded: .warning
        }
    }
}
