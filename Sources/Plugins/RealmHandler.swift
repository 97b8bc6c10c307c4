package import Programs

/// A handler of what happens to realms.
///
/// A handler has no access to the engine: it returns a decision, or the reason why it has none.
/// Sync continues in either case.
package protocol RealmHandler: Sendable {
    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply
}

/// The reason why a handler failed. A failure counts as `continue`.
package enum HandlerFailure: Error, Hashable, Sendable {
    case program(ProgramFailure)
    /// A web address does not answer within that time.
    case timedOut(Duration)
    case tooMuchOutput(limitInBytes: Int)
    case badAnswer(String)
    case unreachable(url: String, reason: String)
    case refused(url: String, status: Int)
    case secretUnreadable(String)
    case storage(String)
    case unit(String, reason: String)
    case allowanceUsed(count: Int, window: Duration)
    /// The agent is stopping.
    case cancelled

    /// The agent is stopping; not a failure of the handler.
    var isCancellation: Bool { self == .cancelled || self == .program(.cancelled) }

    package var code: String {
        switch self {
        case .program(.cannotStart): "plugin.cannot_start"
        case .program(.exitStatus): "plugin.exit_status"
        case .program(.signal): "plugin.killed"
        case .timedOut, .program(.timedOut): "plugin.timed_out"
        case .tooMuchOutput, .program(.tooMuchOutput): "plugin.too_much_output"
        case .badAnswer: "plugin.bad_answer"
        case .unreachable: "plugin.unreachable"
        case .refused: "plugin.refused"
        case .secretUnreadable: "plugin.secret_unreadable"
        case .storage: "plugin.storage"
        case .unit: "plugin.unit"
        case .allowanceUsed: "plugin.allowance_used"
        case .cancelled, .program(.cancelled): "plugin.cancelled"
        }
    }
}

extension HandlerFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .program(let failure): failure.description
        case .timedOut(let limit): "no answer within \(limit)"
        case .tooMuchOutput(let limit): "more than \(limit) bytes of output"
        case .badAnswer(let reason): "the answer cannot be used: \(reason)"
        case .unreachable(let url, let reason): "\(url) cannot be reached: \(reason)"
        case .refused(let url, let status): "\(url) answered with status \(status)"
        case .secretUnreadable(let reason): reason
        case .storage(let reason): reason
        case .unit(let unit, let reason): "\(unit) cannot be started: \(reason)"
        case .allowanceUsed(let count, let window):
            "it has decided \(count) times within \(window), which is all it may"
        case .cancelled: "the agent is stopping"
        }
    }
}
