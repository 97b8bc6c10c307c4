import ArgumentParser
import Control
import Platform
import WorkDisplay

struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare a realm with its server, object by object.",
        discussion: """
            Syncs first, then both ends compute digests of all objects that the realm holds, at one \
            version. Programs continue to write meanwhile; objects that change are left out. With \
            --repair, differences are removed by a client reset to the server's state, which keeps \
            unsynced changes, and the realm is compared once more. Works with realm-server only.
            Exit status: 0 equal, 1 different or failed, 2 configuration, 3 no agent or no server, \
            4 log-in, 5 client reset required, 124 timed out.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm.")
    var realm: String

    @Flag(help: "Reset the realm to the server's state if they differ.")
    var repair = false

    @Option(help: "The limit on the sync before the comparison, such as 30s or 5m.")
    var timeout: TimeoutArgument?

    @Flag(help: "Print the result as JSON.")
    var json = false

    func run() async throws {
        let client = try files.controlClient()
        var report = try await verify(client)
        if repair, !report.equal {
            show(report)
            do throws(ControlError) {
                _ = try await client.reset(
                    realm: realm,
                    ResetRequest(mode: nil, dryRun: false, token: nil)
                )
            } catch {
                throw CommandFailure(error)
            }
            StandardError.print("\(realm) was reset")
            report = try await verify(client)
        }
        show(report)
        guard !report.equal else { return }
        throw CommandFailure(status: .failed, message: nil)
    }

    private func verify(_ client: ControlClient) async throws -> VerificationReport {
        var report: VerificationReport?
        let request = VerifyRequest(timeoutInSeconds: timeout.map { $0.duration / .seconds(1) })
        let display = ProgressDisplay()
        defer { display.end() }
        do {
            try await client.verify(realm, request) { line in
                if let error = line.error {
                    let status = line.outcome.map { ExitStatus($0) } ?? .failed
                    throw CommandFailure(status: status, message: error.description)
                }
                if let result = line.result { report = result }
                if !json, let text = Self.text(of: line) {
                    display.show(WorkProgress(share: nil, text: text))
                }
            }
        } catch let error as ControlError {
            throw CommandFailure(error)
        }
        guard let report else {
            throw CommandFailure(status: .failed, message: "the agent ended the comparison")
        }
        return report
    }

    private func show(_ report: VerificationReport) {
        if json {
            if let text = try? report.controlJSON() { print(text) }
        } else {
            for line in Self.text(of: report) { print(line) }
        }
    }

    private static func text(of line: VerificationLine) -> String? {
        switch line.step {
        case .syncing: "syncing"
        case .reading: "reading \(line.className ?? ""): \(Counted(line.objects ?? 0, "object"))"
        case .askingServer: "waiting for the server"
        case .listingDifferences: "listing differences"
        case nil: nil
        }
    }

    static func text(of report: VerificationReport) -> [String] {
        var lines = report.classes.map { owner in
            "\(owner.name): \(Counted(owner.objects, "object")), "
                + (owner.equal ? "equal" : "different")
        }
        lines += report.schemaDifferences.map { "only at one end: \($0)" }
        lines += report.differences.map { difference in
            let properties = difference.properties.joined(separator: ", ")
            return "  \(difference.kind)  \(difference.className) \(difference.key ?? "?")"
                + (properties.isEmpty ? "" : ": \(properties)")
        }
        if report.truncated { lines.append("  more differences are not listed") }
        if report.changedObjects > 0 {
            lines.append("not compared, since they changed meanwhile: \(report.changedObjects)")
        }
        let verdict = report.equal ? "is equal to" : "differs from"
        lines.append("\(report.realm) \(verdict) the server at version \(report.serverVersion)")
        return lines
    }
}
