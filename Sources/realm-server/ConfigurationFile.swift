import ArgumentParser
import Platform
import Server
import Settings

/// The option that names the configuration, and what every command does with it.
struct ConfigurationFile: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: "The configuration file; those in the directory beside it, named NAME.d, count too."
    )
    var path = "/etc/realm-server.yaml"

    /// What is wrong with the configuration itself ends a command with this status.
    static let failure = ExitCode(2)

    /// What the files say now: `path` and the drop-ins beside it. With `named` also the files that they
    /// name are checked.
    func load(_ named: NamedFiles? = nil) -> ConfigurationReload.Reading {
        let (sources, failures) = ConfigurationTexts(mainFile: path).read()
        guard failures.isEmpty else { return (nil, failures) }
        return ServerConfigurationReader.read(sources, files: named)
    }

    /// The configuration; what is wrong with it goes to standard error, all at once.
    func read(_ named: NamedFiles? = nil) throws -> ServerConfiguration {
        let (configuration, diagnostics) = load(named)
        return try told(configuration, diagnostics)
    }

    /// Where a server that runs is asked, whatever else is wrong with the configuration.
    func adminSocketPath() throws -> String {
        let (sources, failures) = ConfigurationTexts(mainFile: path).read()
        let (path, diagnostics) =
            failures.isEmpty ? ServerConfigurationReader.adminSocketPath(sources) : (nil, failures)
        return try told(path, diagnostics)
    }

    private func told<Value>(_ value: Value?, _ diagnostics: [Diagnostic]) throws -> Value {
        for diagnostic in diagnostics { StandardError.write(diagnostic.description) }
        guard let value else { throw Self.failure }
        return value
    }
}
