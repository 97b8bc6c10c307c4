import ArgumentParser
import Control
import Platform

struct LogLevelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log-level",
        abstract: "Show or change the running agent's log levels.",
        discussion: """
            The change lasts until the agent ends. A category such as Sync.Client covers all below it.
            Exit status: 0 shown, 1 not allowed, 2 usage or configuration, 3 no agent is running.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "One of off, fatal, error, warn, info, detail, debug, trace, all.")
    var level: LogLevel?

    @Argument(help: "Change only this category; otherwise all without a level of their own.")
    var category: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let client = try files.controlClient()
        let report: LogReport
        do throws(ControlError) {
            if let level {
                let change = LogLevelChange(level: level.rawValue, category: category)
                report = try await client.setLogLevel(change)
            } else {
                report = try await client.logLevels()
            }
        } catch {
            throw CommandFailure(error)
        }
        if json {
            print(try report.controlJSON())
        } else {
            print(report.level)
            for (category, level) in report.categories.sorted(by: { $0.key < $1.key }) {
                print("\(category) \(level)")
            }
        }
    }
}

extension LogLevel: ExpressibleByArgument {}
