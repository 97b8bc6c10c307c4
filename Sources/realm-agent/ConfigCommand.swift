import Agent
import ArgumentParser
import Config

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Shows the configuration as it is merged, or what one may look like.",
        subcommands: [Show.self, Schema.self]
    )

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Prints the configuration with its drop-ins laid over it, secrets redacted.",
            discussion: "Exit status: 0 shown, 2 the configuration is refused."
        )

        @OptionGroup var files: ConfigurationOptions

        @Flag(help: "Say behind each value in which file and line it stands.")
        var origin = false

        func run() throws {
            _ = try files.load()
            print(
                ConfigurationFiles(mainFile: files.config).text(withOrigins: origin),
                terminator: ""
            )
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Prints the JSON Schema of configuration files."
        )

        func run() {
            print(ConfigurationSchema.text(), terminator: "")
        }
    }
}
