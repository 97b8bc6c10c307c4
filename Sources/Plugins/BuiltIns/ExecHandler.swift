import Config

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
        let outcome = try await program.run(input: request.json(), graceTime: graceTime)
        switch outcome.ending {
        case .exited(0): return try HandlerReply(answer: outcome.output)
        case .exited(let status): throw .exitStatus(status, errors: outcome.errors)
        case .signaled(let signal): throw .signal(signal, errors: outcome.errors)
        }
    }
}
