import ArgumentParser
import Control
import Glibc

struct ProgressCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "progress",
        abstract:
            "Show the progress of an upload or a download: a bar on a terminal, else JSON lines.",
        discussion: "Exit status: 0 shown, 1 failed, 2 configuration, 3 no agent is running."
    )

    @OptionGroup var files: ConfigurationOptions

    @Argument(help: "The realm.")
    var realm: String

    @Option(help: "upload or download.")
    var direction = WaitRequest.Direction.download

    @Option(help: "indefinite for every change; outstanding for the work that is pending now.")
    var mode = ProgressRequest.Mode.outstanding

    @Flag(help: "Print JSON lines on a terminal, too.")
    var json = false

    func run() async throws {
        let client = try files.controlClient()
        let drawsBar = !json && isatty(STDOUT_FILENO) == 1
        do {
            let request = ProgressRequest(direction: direction, mode: mode)
            try await client.progress(request, of: realm) { report in
                if drawsBar {
                    print("\r\(ProgressBar(report))", terminator: "")
                } else if let line = try? report.controlJSON() {
                    print(line)
                }
                fflush(nil)
            }
        } catch let error as ControlError {
            throw CommandFailure(error)
        }
        if drawsBar { print() }
    }
}

/// One line that grows.
struct ProgressBar: CustomStringConvertible {
    private let estimate: Double
    private let transferred: UInt64
    private let transferable: UInt64

    init(_ report: ProgressReport) {
        self.estimate = min(max(report.estimate, 0), 1)
        self.transferred = report.transferredBytes
        self.transferable = report.transferableBytes
    }

    private static let width = 40

    var description: String {
        let filled = Int(estimate * Double(Self.width))
        let bar = String(repeating: "#", count: filled)
        let rest = String(repeating: ".", count: Self.width - filled)
        // Rounded down, so that 100 % means complete.
        let share = "\(Int(estimate * 100))"
        let padding = String(repeating: " ", count: 3 - share.count)
        return "[\(bar)\(rest)] \(padding)\(share) %  \(transferred) of \(transferable) bytes "
    }
}

extension WaitRequest.Direction: ExpressibleByArgument {}
extension ProgressRequest.Mode: ExpressibleByArgument {}
