import Coordination
import FoundationEssentials
import JSON
import Logging
import Programs
import ServerConfig
import ServerStore

/// Runs the operator's programs, a few at a time: a flood of requests must not become a flood of
/// processes.
package actor HookRunner {
    private let turns: Turns<OrderOfArrival>
    private let logger: Logger

    /// - Parameter waitingAtMost: requests that wait for their turn; more are refused.
    init(logger: Logger, atOnce: Int = 8, waitingAtMost: Int = 256) {
        self.logger = logger
        self.turns = Turns(atOnce: atOnce, waitingAtMost: waitingAtMost)
    }

    /// The numbers of running programs and waiting requests.
    var load: (running: Int, waiting: Int) {
        let load = turns.load
        return (load.working, load.waiting)
    }

    /// The reason for a missing answer. The details are in the operator's log, not in the response
    /// to the client.
    package enum Failure: Error, Hashable, Sendable {
        /// Too many requests wait.
        case overloaded
        case timedOut
        /// The program could not be started, failed, or did not answer with JSON.
        case failed
    }

    /// Passes a request to the program and returns its answer; nil without output.
    ///
    /// `request` gets the members `version` and `kind`.
    func ask(
        _ hook: HookConfiguration,
        _ kind: HookKind,
        about app: AppID,
        _ request: [String: JSONValue]
    ) async throws(Failure) -> JSONValue? {
        try await turns.take(from: .queue, orThrow: .overloaded) { () async throws(Failure) in
            try await run(hook, kind, app, request)
        }
    }

    private func run(
        _ hook: HookConfiguration,
        _ kind: HookKind,
        _ app: AppID,
        _ request: [String: JSONValue]
    ) async throws(Failure) -> JSONValue? {
        var request = request
        request["version"] = .integer(1)
        request["kind"] = .string(kind.rawValue)
        request["app"] = .string(app.rawValue)
        guard let input = try? JSONValue.object(request).json() else { throw .failed }
        let program = Program(
            command: hook.command,
            environment: hook.environment,
            timeout: hook.timeout
        )
        let outcome: ProgramOutcome
        do throws(ProgramFailure) {
            outcome = try await program.run(input: input)
        } catch {
            report(hook, kind, app, "\(error)")
            if case .timedOut = error { throw .timedOut }
            throw .failed
        }
        return try answer(of: outcome, hook, kind, app)
    }

    private func answer(
        of outcome: ProgramOutcome,
        _ hook: HookConfiguration,
        _ kind: HookKind,
        _ app: AppID
    ) throws(Failure) -> JSONValue? {
        guard outcome.ending == .exited(0) else {
            let end = outcome.errors.isEmpty ? "" : "; it said: \(outcome.errors)"
            report(hook, kind, app, "\(outcome.ending.text)\(end)")
            throw .failed
        }
        guard !outcome.output.allSatisfy({ [0x20, 0x09, 0x0a, 0x0d].contains($0) }) else {
            return nil
        }
        let answer = try? JSONDecoder().decode(JSONValue.self, from: Data(outcome.output))
        guard let answer else {
            report(hook, kind, app, "its answer is not JSON")
            throw .failed
        }
        return answer
    }

    private func report(
        _ hook: HookConfiguration,
        _ kind: HookKind,
        _ app: AppID,
        _ reason: String
    ) {
        logger.error(
            "a program of the operator failed",
            metadata: [
                "code": "server.hook", "app": "\(app)", "kind": "\(kind.rawValue)",
                "program": "\(hook.command.first ?? "")", "reason": "\(reason)",
            ]
        )
    }
}

/// The kind of a request to a program.
enum HookKind: String, Sendable {
    /// Identifies the user of a payload.
    case logIn = "log_in"
    /// Decides on a new account.
    case confirm
    /// Decides on a new password.
    case reset
    /// Mails a token to its owner.
    case mail
}

extension ProgramOutcome.Ending {
    fileprivate var text: String {
        switch self {
        case .exited(let status): "it ended with status \(status)"
        case .signaled(let signal): "it was ended by signal \(signal)"
        }
    }
}
