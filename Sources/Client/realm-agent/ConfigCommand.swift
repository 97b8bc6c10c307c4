import Agent
import ArgumentParser
import Config

struct ConfigCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Show the merged configuration, or the form of one.",
        subcommands: [Show.self, Schema.self]
    )

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Print the configuration merged with its drop-ins, secrets redacted.",
            discussion: "Exit status: 0 shown, 2 the configuration is refused."
        )

        @OptionGroup var files: ConfigurationOptions

        @Flag(help: "Add the file and line of each value.")
        var origin = false

        func run() throws {
            _ = try files.load()
            print(
                AgentConfigurationLoader(mainFile: files.config).text(withOrigins: origin),
                terminator: ""
            )
        }
    }

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "schema",
            abstract: "Print the JSON Schema of configuration files."
        )

        func run() {
            print(ConfigurationSchema.text(), terminator: "")
        }
    }
}
