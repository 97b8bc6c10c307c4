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
        let answer: [UInt8]
        do throws(ProgramFailure) {
            answer = try await program.output(input: request.json(), graceTime: graceTime)
        } catch {
            throw .program(error)
        }
        return try HandlerReply(answer: answer, to: request)
    }
}
