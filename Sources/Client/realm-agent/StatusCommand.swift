import ArgumentParser
import Control
import Glibc

struct StatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show each realm's state, and the cause if it is not open.",
        discussion: "Exit status: 0 shown, 2 configuration, 3 no agent is running."
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "Show only this realm.")
    var realm: String?

    @Flag(help: "Print JSON.")
    var json = false

    @Flag(help: "Refresh every second until interrupted.")
    var watch = false

    func run() async throws {
        let client = try files.controlClient()
        repeat {
            let report: StatusReport
            do throws(ControlError) {
                report = try await client.status()
            } catch {
                throw CommandFailure(error)
            }
            try show(try selected(from: report))
            if watch { try await Task.sleep(for: .seconds(1)) }
        } while watch
    }

    private func show(_ report: StatusReport) throws {
        let text = json ? try report.controlJSON() : StatusTable(report: report).description
        // A terminal is cleared first; a file gets one screen after the other.
        let isScreen = watch && !json && isatty(STDOUT_FILENO) == 1
        StandardOutput.print(isScreen ? "\u{1b}[H\u{1b}[2J\(text)" : text)
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
        return StatusReport(
            version: report.version,
            pid: report.pid,
            generation: report.generation,
            realms: realms
        )
    }
}
