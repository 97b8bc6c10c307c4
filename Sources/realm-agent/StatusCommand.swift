import ArgumentParser
import Config
import Control

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Shows each realm's state, and why it is not open if it is not.",
        discussion: "Exit status: 0 shown, 2 configuration, 3 no agent is running."
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "Show only this realm.")
    var realm: String?

    @Flag(help: "Print JSON.")
    var json = false

    func run() async throws {
        let configuration = try files.load()
        let client = ControlClient(socketPath: configuration.daemon.controlSocket)
        let report: StatusReport
        do throws(ControlError) {
            report = try await client.status()
        } catch {
            throw CommandFailure(error)
        }
        let shown = try selected(from: report)
        print(json ? try shown.controlJSON() : StatusTable(report: shown).description)
    }

    private func selected(from report: StatusReport) throws -> StatusReport {
        guard let realm else { return report }
        let realms = report.realms.filter { $0.name == realm }
        guard !realms.isEmpty else {
            throw CommandFailure(
                status: .configuration,
                message: ControlError.unknownRealm(realm).description
            )
        }
        return StatusReport(version: report.version, pid: report.pid, realms: realms)
    }
}
