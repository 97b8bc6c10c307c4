import ArgumentParser
import Control

struct WaitCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "wait",
        abstract:
            "Waits until what is written so far is uploaded, and what the server has is here.",
        discussion: """
            With `--for open`, until the realm counts as open, as realms.NAME.open has it.
            Goes on waiting while the server cannot be reached. Needs a running agent.
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
            "What to wait for: upload, download, open, or some of them with commas between.",
            valueName: "directions"
        )
    )
    var directions = DirectionsArgument.all

    @Option(help: "Give up after this long, such as 30s or 5m.")
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
            message: json ? nil : "\(realm): \(report.detail ?? report.outcome.rawValue)"
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
