import ArgumentParser
import Config

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Validates the configuration and says all that is wrong with it.",
        discussion: "Exit status: 0 valid, 2 not."
    )

    @OptionGroup var files: ConfigurationOptions

    func run() throws {
        let configuration = try files.load()
        let counts = [
            (configuration.apps.count, "app"), (configuration.users.count, "user"),
            (configuration.realms.count, "realm"),
        ]
        let summary = counts.map { "\($0) \($1)\($0 == 1 ? "" : "s")" }.joined(separator: ", ")
        print("\(files.config) is valid: \(summary)")
    }
}
