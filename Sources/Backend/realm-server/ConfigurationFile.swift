import ArgumentParser
import Platform
import Server
import ServerConfig
import Settings

/// The option that names the configuration, and the ways to read it.
struct ConfigurationFile: ParsableArguments {
    @Option(
        name: .customLong("config"),
        help: "The configuration file. Files in the directory NAME.d beside it override it."
    )
    var path = "/etc/realm-server.yaml"

    /// The exit status of a command with a wrong configuration.
    static let failure = ExitCode(2)

    /// Reads `path` and the drop-ins beside it. With `named` also checks the files that they name.
    func load(_ named: NamedFiles? = nil) -> ConfigurationReload.Reading {
        let (sources, failures) = ConfigurationFileSet(mainFile: path).read()
        guard failures.isEmpty else { return (nil, failures) }
        return ServerConfigurationReader.read(sources, files: named)
    }

    /// Reads the configuration; prints all its mistakes on standard error.
    func read(_ named: NamedFiles? = nil) throws -> ServerConfiguration {
        let (configuration, diagnostics) = load(named)
        return try told(configuration, diagnostics)
    }

    /// The running server's admin socket; other mistakes of the configuration are ignored.
    func adminSocketPath() throws -> String {
        let (sources, failures) = ConfigurationFileSet(mainFile: path).read()
        let (path, diagnostics) =
            failures.isEmpty ? ServerConfigurationReader.adminSocketPath(sources) : (nil, failures)
        return try told(path, diagnostics)
    }

    private func told<Value>(_ value: Value?, _ diagnostics: [Diagnostic]) throws -> Value {
        for diagnostic in diagnostics { StandardError.print(diagnostic.description) }
        guard let value else { throw Self.failure }
        return value
    }
}
