import Agent
import ArgumentParser
import Config
import Control
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

    /// Speaks to the agent that runs by this configuration, which may have changed since.
    func controlClient() throws -> ControlClient {
        let (path, diagnostics) = ConfigurationFiles(mainFile: config).controlSocket()
        return ControlClient(socketPath: try told(path, diagnostics))
    }

    private func load(_ result: ConfigurationFiles.Result) throws -> AgentConfiguration {
        try told(result.configuration, result.diagnostics)
    }

    /// What was read, after telling what is wrong with it.
    private func told<Value>(_ value: Value?, _ diagnostics: [Diagnostic]) throws -> Value {
        for diagnostic in diagnostics {
            StandardError.print(diagnostic.description)
        }
        guard let value else {
            let errors = diagnostics.filter { $0.severity == .error }.count
            throw CommandFailure(
                status: .configuration,
                message: "\(config) is refused: \(errors) error\(errors == 1 ? "" : "s")"
            )
        }
        return value
    }
}
