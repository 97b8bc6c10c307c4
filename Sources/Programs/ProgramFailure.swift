/// Why a program did not run to an end of its own.
package enum ProgramFailure: Error, Hashable, Sendable {
    case cannotStart(program: String, reason: String)
    case timedOut(Duration)
    case tooMuchOutput(limitInBytes: Int)
    /// Whoever waited for it does not any more.
    case cancelled
}

extension ProgramFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotStart(let program, let reason): "\(program) cannot be started: \(reason)"
        case .timedOut(let limit): "no answer within \(limit)"
        case .tooMuchOutput(let limit): "more than \(limit) bytes of output"
        case .cancelled: "nobody waits for it any more"
        }
    }
}
