import Agent
import ArgumentParser
import Config
import Control

struct CheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validate the configuration, and report every mistake.",
        discussion: """
            With --connect it also tries the names and certificates of servers, the log-in of every \
            user, and whether the server accepts each realm. Nothing is changed: no file, no account, \
            and no record of the server about clients. So a log-in that would make an account is not \
            tried, or reported as one that the agent has still to register.
            Exit status: 0 valid, 2 not; with --connect also 1 refused, 3 no network or no server, \
            4 log-in, by the first problem.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Flag(help: "Also connect, log in, and try every realm.")
    var connect = false

    @Flag(help: "Print the trials as JSON lines; with --connect.")
    var json = false

    func validate() throws {
        if json, !connect { throw ValidationError("--json goes with --connect") }
    }

    func run() async throws {
        let configuration = try files.load()
        guard connect else {
            let counts = [
                (configuration.apps.count, "app"), (configuration.users.count, "user"),
                (configuration.realms.count, "realm"),
            ]
            let summary = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }
                .joined(separator: ", ")
            print("\(files.config) is valid: \(summary)")
            return
        }
        let trials: [ConnectionCheck.Trial]
        do {
            trials = try await ConnectionCheck(configuration, version: agentVersion).run()
        } catch {
            throw CommandFailure(status: .failed, message: "\(error)")
        }
        for trial in trials {
            print(json ? try trial.finding.controlJSON() : trial.finding.description)
        }
        guard let problem = trials.first(where: { $0.outcome != .done }) else { return }
        throw CommandFailure(status: ExitStatus(problem.outcome), message: nil)
    }
}
