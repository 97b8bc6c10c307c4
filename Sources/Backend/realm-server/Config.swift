import ArgumentParser
import ServerConfig

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show the form of a configuration.",
        subcommands: [Schema.self]
    )

    struct Schema: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print the JSON Schema of configuration files."
        )

        func run() {
            print(ServerConfigurationSchema.text(), terminator: "")
        }
    }
}
