import ArgumentParser
import Control
import Platform

struct ReloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reload",
        abstract: "Reload the running agent's configuration.",
        discussion: """
            Realms that do not change keep their connections. A configuration with mistakes changes
            nothing; the agent reports the mistakes. Exit status: 0 reloaded, 2 the configuration is refused, 3 no agent is running.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        // The socket may be another one in the new file, which needs a restart anyway.
        let client = try files.controlClient()
        let report: ReloadReport
        do throws(ControlError) {
            report = try await client.reload()
        } catch {
            let isRefused = error.code == "config.refused"
            throw isRefused
                ? CommandFailure(status: .configuration, message: error.description)
                : CommandFailure(error)
        }
        for warning in report.warnings { StandardError.print(warning) }
        if json {
            print(try report.controlJSON())
            return
        }
        for path in report.applied { print("applied: \(path)") }
        for path in report.needsRestart { print("needs a restart: \(path)") }
        if report.applied.isEmpty, report.needsRestart.isEmpty { print("nothing has changed") }
    }
}
