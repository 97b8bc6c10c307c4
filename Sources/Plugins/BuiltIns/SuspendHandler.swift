import Platform
import Scheduling

/// `suspend`: suspends the realm for a while, or until an operator resumes it.
struct SuspendHandler: RealmHandler {
    let duration: Duration?
    let now: @Sendable () -> WallTime

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        guard let duration else { return HandlerReply(.suspend(until: nil)) }
        let end = now().millisecondsSince1970 + Int64(duration / .milliseconds(1))
        return HandlerReply(.suspend(until: WallTime(millisecondsSince1970: end)))
    }
}
