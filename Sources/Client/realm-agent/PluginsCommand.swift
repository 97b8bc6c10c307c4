import ArgumentParser
import Control

struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Show handler plugins.",
        subcommands: [List.self],
        defaultSubcommand: List.self
    )

    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List every handler with its calls and failures.",
            discussion: "Exit status: 0 shown, 2 usage or configuration, 3 no agent is running."
        )

        @OptionGroup var files: ConfigurationOptions

        @Flag(help: "Print JSON.")
        var json = false

        func run() async throws {
            let client = try files.controlClient()
            let reports: [PluginReport]
            do throws(ControlError) {
                reports = try await client.plugins()
            } catch {
                throw CommandFailure(error)
            }
            if json {
                print(try reports.controlJSON())
            } else {
                for report in reports { print(Self.lines(of: report)) }
            }
        }

        private static func lines(of report: PluginReport) -> String {
            let realms = report.realms.isEmpty ? "no realm" : report.realms.joined(separator: ", ")
            var text =
                "\(report.name): \(report.use), for \(realms); \(report.calls) calls, "
                + "\(report.failures) failures"
            if let failure = report.lastFailure {
                text += "\n  \(failure.at) \(failure.realm): \(failure.message) [\(failure.code)]"
            }
            return text
        }
    }
}
