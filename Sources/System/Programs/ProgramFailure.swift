/// The failure of a program.
package enum ProgramFailure: Error, Hashable, Sendable {
    case cannotStart(program: String, reason: String)
    /// The end of what the program wrote to standard error, if anything.
    case exitStatus(Int32, errors: String)
    case signal(Int32, errors: String)
    case timedOut(Duration)
    case tooMuchOutput(limitInBytes: Int)
    /// The task that waited for it was cancelled.
    case cancelled
}

extension ProgramFailure: CustomStringConvertible {
    package var description: String {
        switch self {
        case .cannotStart(let program, let reason): "\(program) cannot be started: \(reason)"
        case .exitStatus(let status, let errors):
            "the program ended with status \(status)\(Self.quoted(errors))"
        case .signal(let signal, let errors):
            "the program was ended by signal \(signal)\(Self.quoted(errors))"
        case .timedOut(let limit): "no answer within \(limit)"
        case .tooMuchOutput(let limit): "more than \(limit) bytes of output"
        case .cancelled: "it is no longer needed"
        }
    }

    private static func quoted(_ errors: String) -> String {
        errors.isEmpty ? "" : "; the end of its standard error: \(errors)"
    }
}
