import Agent
import ArgumentParser
import Config
import Settings

/// Where the configuration is; every subcommand takes it.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file; the files of the directory beside it with .d in place of .yaml are laid over it.",
            valueName: "file"
        )
    )
    var config = "/etc/realm-agent.yaml"

    /// Reads the configuration; what is wrong with it is printed, all at once.
    func load() throws -> AgentConfiguration {
        try load(ConfigurationFiles(mainFile: config).load())
    }

    /// The same to sync with it: what this version cannot serve is an error too.
    func loadToServe() throws -> AgentConfiguration {
        try load(ConfigurationFiles(mainFile: config).load().toServe)
    }

    private func load(_ result: ConfigurationFiles.Result) throws -> AgentConfiguration {
        for diagnostic in result.diagnostics {
            StandardError.print(diagnostic.description)
        }
        guard let configuration = result.configuration else {
            let errors = result.diagnostics.filter { $0.severity == .error }.count
            throw CommandFailure(
                status: .configuration,
                message: "\(config) is refused: \(errors) error\(errors == 1 ? "" : "s")"
            )
        }
        return configuration
    }
}
