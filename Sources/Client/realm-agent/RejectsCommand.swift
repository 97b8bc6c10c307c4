import ArgumentParser
import Config
import Control
import Glibc

struct RejectsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejects",
        abstract: "Show rejected writes, with the reasons, or write one of them again.",
        discussion: """
            Writes that the server undid, and values that cannot be sent, whose previous values were \
            restored here: the newest 1000 of each, the newest first. --retry writes the object again \
            as it was before the server undid the write, for example once rules or subscriptions \
            allow it; the agent uploads it. --export makes a file of JSON lines, with the rows.
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

    @Option(help: ArgumentHelp("Write the object of this write again.", valueName: "id"))
    var retry: Int64?

    @Option(help: ArgumentHelp("Write JSON lines to a new file.", valueName: "file"))
    var export: String?

    func validate() throws {
        guard retry == nil || export == nil else {
            throw ValidationError("give one of --retry and --export")
        }
        guard (1...1000).contains(limit) else { throw ValidationError("--limit is 1 to 1000") }
    }

    func run() async throws {
        let client = try files.controlClient()
        if let retry { return try await write(retry, client) }
        let report: RejectsReport
        do throws(ControlError) {
            report = try await client.rejects(of: realm, limit: limit)
        } catch {
            throw CommandFailure(error)
        }
        if let export {
            try write(report, to: export)
        } else if json {
            for reject in report.rejects { StandardOutput.print(try reject.controlJSON()) }
        } else if !report.rejects.isEmpty {
            print(TextTable(Self.header, report.rejects.map(Self.cells)))
        }
    }

    private func write(_ id: Int64, _ client: ControlClient) async throws {
        let report: RetryReport
        do throws(ControlError) {
            report = try await client.retryReject(id, of: realm)
        } catch {
            throw CommandFailure(error)
        }
        let verb = report.outcome == .written ? "written" : "deleted"
        StandardOutput.print(
            json ? try report.controlJSON() : "\(report.className) \(verb) again"
        )
    }

    /// The file is only for its owner: it holds rows.
    private func write(_ report: RejectsReport, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw CommandFailure(
                status: .failed,
                message: "cannot create \(path): \(String(cString: strerror(errno)))"
            )
        }
        defer { close(descriptor) }
        for reject in report.rejects.reversed() {
            var rest = Array("\(try reject.exportLine())\n".utf8)[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes {
                    Glibc.write(descriptor, $0.baseAddress, $0.count)
                }
                guard count > 0 else {
                    throw CommandFailure(
                        status: .failed,
                        message: "cannot write \(path): \(String(cString: strerror(errno)))"
                    )
                }
                rest = rest.dropFirst(count)
            }
        }
    }

    private static let header = ["ID", "TIME", "BY", "CLASS", "KEY", "PROPERTY", "REASON"]

    private static func cells(of reject: RejectsReport.Reject) -> [String] {
        let code = reject.errorCode.map { " [\($0)]" } ?? ""
        return [
            reject.id.map(String.init) ?? "-", reject.at, reject.by.rawValue, reject.className,
            reject.key, reject.property ?? "-",
            reject.reason + code,
        ]
    }
}
