import Agent
import ArgumentParser
import Config
import Control
import Platform
import Settings

/// The path of the configuration, an option of every subcommand.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration file. Files in the directory beside it, with .d in place of .yaml, override it.",
            valueName: "file"
        )
    )
    var config = "/etc/realm-agent.yaml"

    /// Reads the configuration; prints all its mistakes.
    func load() throws -> AgentConfiguration {
        try load(AgentConfigurationLoader(mainFile: config).load())
    }

    /// Client of the agent that runs with this configuration, which may have changed since its
    /// start.
    func controlClient() throws -> ControlClient {
        let (path, diagnostics) = AgentConfigurationLoader(mainFile: config).controlSocket()
        return ControlClient(socketPath: try told(path, diagnostics))
    }

    private func load(_ result: AgentConfigurationLoader.Result) throws -> AgentConfiguration {
        try told(result.configuration, result.diagnostics)
    }

    /// Prints the diagnostics, and returns the value or throws.
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
