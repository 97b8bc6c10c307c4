import ArgumentParser
import Control

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract:
            "Wait until all writes so far are uploaded, and the server's changes downloaded.",
        discussion: """
            With `--for open`, until the realm counts as open, as realms.NAME.open defines it.
            Keeps waiting while the server cannot be reached. Needs a running agent.
            Exit status: 0 done, 1 failed, 2 configuration, 3 no agent, 4 log-in, \
            5 client reset required, 124 timed out.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm.")
    var realm: String

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "upload, download, open, or some of them, separated by commas.",
            valueName: "directions"
        )
    )
    var directions = DirectionsArgument.all

    @Option(help: "The limit on the wait, such as 30s or 5m.")
    var timeout: TimeoutArgument?

    @Flag(help: "Print the outcome as JSON.")
    var json = false

    func run() async throws {
        let client = try files.controlClient()
        let request = WaitRequest(
            directions: directions.directions,
            untilOpen: directions.untilOpen ? true : nil,
            timeoutInSeconds: timeout.map { $0.duration / .seconds(1) }
        )
        let report: SyncReport
        do throws(ControlError) {
            report = try await client.wait(request, for: realm)
        } catch {
            throw CommandFailure(error)
        }
        if json { print(try report.controlJSON()) }
        guard report.outcome != .done else { return }
        throw CommandFailure(
            status: ExitStatus(report.outcome),
            message: json
                ? nil
                : "\(realm): \(report.detail ?? report.outcome.rawValue)"
                    + (report.remedy.map { "; \($0)" } ?? "")
        )
    }
}

/// Some of `upload`, `download` and `open`.
struct DirectionsArgument: ExpressibleByArgument {
    let directions: [WaitRequest.Direction]
    let untilOpen: Bool

    static let all = DirectionsArgument(directions: WaitRequest.Direction.allCases)

    private init(directions: [WaitRequest.Direction]) {
        self.directions = directions
        self.untilOpen = false
    }

    init?(argument: String) {
        var directions: [WaitRequest.Direction] = []
        var untilOpen = false
        for word in argument.split(separator: ",", omittingEmptySubsequences: false) {
            if word == "open" {
                untilOpen = true
                continue
            }
            guard let direction = WaitRequest.Direction(rawValue: String(word)) else { return nil }
            directions.append(direction)
        }
        self.directions = directions
        self.untilOpen = untilOpen
    }

    var defaultValueDescription: String { "upload,download" }
}
