import Agent
import ArgumentParser
import Config
import Control
import FoundationEssentials
import Glibc

struct SupportBundleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "support-bundle",
        abstract: "Write diagnostics into a directory of text files.",
        discussion: """
            Holds findings, status, events, metrics, log levels and the schemas of the realms; no \
            rows, no secrets and no addresses of people. Read it before you share it.
            Exit status: 0 written, 1 failed, 2 configuration.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Option(help: ArgumentHelp("The directory to create.", valueName: "directory"))
    var output = "realm-agent-support"

    func run() async throws {
        let configuration = try files.load()
        guard mkdir(output, 0o700) == 0 else {
            throw CommandFailure(
                status: .failed,
                message: "\(output) cannot be created: \(String(cString: strerror(errno)))"
            )
        }
        let bundle = await SupportBundle(configuration, version: agentVersion).files()
        for (name, text) in bundle {
            do {
                try Data(text.utf8)
                    .write(to: URL(filePath: "\(output)/\(name)"))
            } catch {
                throw CommandFailure(status: .failed, message: "\(output)/\(name): \(error)")
            }
        }
        print(output)
    }
}
