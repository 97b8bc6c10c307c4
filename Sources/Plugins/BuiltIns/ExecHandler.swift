import Config
import Programs

/// `exec`: an external program reads the request and prints the decision.
struct ExecHandler: RealmHandler {
    private let program: Program
    private let graceTime: Duration

    init(_ configuration: PluginConfiguration.Exec, graceTime: Duration = .seconds(2)) {
        self.program = Program(
            command: configuration.command,
            environment: configuration.environment,
            timeout: configuration.timeout
        )
        self.graceTime = graceTime
    }

    func handle(_ request: HandlerRequest) async throws(HandlerFailure) -> HandlerReply {
        let outcome: ProgramOutcome
        do throws(ProgramFailure) {
            outcome = try await program.run(input: request.json(), graceTime: graceTime)
        } catch {
            throw HandlerFailure(error)
        }
        switch outcome.ending {
        case .exited(0): return try HandlerReply(answer: outcome.output)
        case .exited(let status): throw .exitStatus(status, errors: outcome.errors)
        case .signaled(let signal): throw .signal(signal, errors: outcome.errors)
        }
    }
}

extension HandlerFailure {
    fileprivate init(_ failure: ProgramFailure) {
        self =
            switch failure {
            case .cannotStart(let program, let reason):
                .cannotStart(program: program, reason: reason)
            case .timedOut(let limit): .timedOut(limit)
            case .tooMuchOutput(let limit): .tooMuchOutput(limitInBytes: limit)
            case .cancelled: .cancelled
            }
    }
}
