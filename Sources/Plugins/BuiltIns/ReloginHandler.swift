import Config
import Platform
import Scheduling

/// `relogin`: logs the user in again, at most a given number of times per period.
///
/// Limits the load of log-ins that never help on the backend.
actor ReloginHandler: RealmHandler {
    private let allowance: PluginConfiguration.Allowance
    private let now: @Sendable () -> WallTime
    /// Times of log-ins by user, the oldest first.
    private var decisions: [String: [WallTime]] = [:]

    init(_ allowance: PluginConfiguration.Allowance, now: @escaping @Sendable () -> WallTime) {
        self.allowance = allowance
        self.now = now
    }

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        let (user, instant) = (request.subject.user, now())
        let window = Int64(allowance.window / .milliseconds(1))
        let recent = decisions[user, default: []].filter {
            instant.millisecondsSince1970 - $0.millisecondsSince1970 < window
        }
        guard recent.count < allowance.count else {
            throw .allowanceUsed(count: allowance.count, window: allowance.window)
        }
        decisions[user] = recent + [instant]
        return HandlerReply(.relogin)
    }
}
