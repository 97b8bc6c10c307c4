import Agent
import ArgumentParser
import Config
import Control

struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Check disk, clock, network, server, accounts and realm files.",
        discussion: """
            Changes nothing, and works with and without a running agent. Every problem and warning has \
            a remedy.
            Exit status: 0 no problem, 1 problems, 2 configuration.
            """
    )

    @OptionGroup var files: ConfigurationOptions

    @Flag(help: "Print JSON lines.")
    var json = false

    func run() async throws {
        let findings = await Doctor(try files.load()).examine()
        for finding in findings {
            print(json ? try finding.controlJSON() : finding.description)
        }
        let problems = findings.filter { $0.verdict == .problem }.count
        guard problems > 0 else { return }
        throw CommandFailure(status: .failed, message: "problems found: \(problems)")
    }
}
