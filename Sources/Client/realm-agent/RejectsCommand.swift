import ArgumentParser
import Config
import Control

struct RejectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejects",
        abstract: "Show rejected writes, with the reasons.",
        discussion: """
            Writes that the server undid, and values that cannot be sent, whose previous values were \
            restored here: the newest 1000 of each, the newest first.
            Exit status: 0 shown, 1 failed, 2 configuration, 3 no agent is running.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm.")
    var realm: String

    @Option(help: "The number of newest writes to show.")
    var limit = 1000

    @Flag(help: "Print JSON lines.")
    var json = false

    func validate() throws {
        guard (1...1000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
    }

    func run() async throws {
        let client = try files.controlClient()
        let report: RejectsReport
        do throws(ControlError) {
            report = try await client.rejects(of: realm, limit: limit)
        } catch {
            throw CommandFailure(error)
        }
        if json {
            for reject in report.rejects { StandardOutput.print(try reject.controlJSON()) }
        } else if !report.rejects.isEmpty {
            print(TextTable(Self.header, report.rejects.map(Self.cells)))
        }
    }

    private static let header = ["TIME", "BY", "CLASS", "KEY", "PROPERTY", "REASON"]

    private static func cells(of reject: RejectsReport.Reject) -> [String] {
        let code = reject.errorCode.map { " [\($0)]" } ?? ""
        return [
            reject.at, reject.by.rawValue, reject.className, reject.key, reject.property ?? "-",
            reject.reason + code,
        ]
    }
}
