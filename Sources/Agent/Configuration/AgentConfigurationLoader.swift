package import Config
import FoundationEssentials
import Platform
import RealmSync
package import Settings

/// Reads the configuration from disk: the main file, and the drop-ins beside it.
package struct AgentConfigurationLoader: Sendable {
    private let texts: ConfigurationFileSet

    package init(mainFile: String) {
        self.texts = ConfigurationFileSet(mainFile: mainFile)
    }

    /// The configuration, nil if any diagnostic is an error.
    package struct Result: Sendable {
        package let configuration: AgentConfiguration?
        package let diagnostics: [Diagnostic]
    }

    package func load() -> Result {
        let host = MachineDescription.current()
        let (sources, failures) = texts.read()
        guard failures.isEmpty, let main = sources.first else {
            return Result(configuration: nil, diagnostics: failures)
        }
        let loaded = ConfigurationParser.load(
            main: main,
            dropIns: Array(sources.dropFirst()),
            inputs: ConfigurationInputs(
                hostName: host.name,
                machineID: host.machineID.isEmpty ? nil : host.machineID,
                environment: ProcessInfo.processInfo.environment,
                readFile: { path in
                    ConfigurationFileSet.bytes(of: path).mapError { FileFailure(reason: $0.reason) }
                }
            )
        )
        return Result(configuration: loaded.configuration, diagnostics: loaded.diagnostics)
    }

    /// The control socket of an agent with these files, or the mistakes that leave it unknown.
    package func controlSocket() -> (path: String?, diagnostics: [Diagnostic]) {
        let (sources, failures) = texts.read()
        guard failures.isEmpty, let main = sources.first else { return (nil, failures) }
        return ConfigurationParser.controlSocket(
            main: main,
            dropIns: Array(sources.dropFirst())
        )
    }

    /// All files as one text, without what may be secret; empty if they cannot be read.
    package func text(withOrigins: Bool) -> String {
        let (sources, failures) = texts.read()
        guard failures.isEmpty, let main = sources.first else { return "" }
        return ConfigurationParser.text(
            main: main,
            dropIns: Array(sources.dropFirst()),
            withOrigins: withOrigins
        )
    }
}
