package import Settings
import YAML

/// Turns texts into a configuration, and reports everything that is wrong with them at once.
package enum ConfigurationParser {
    package struct Result: Sendable {
        /// Nil if any diagnostic is an error.
        package let configuration: AgentConfiguration?
        package let diagnostics: [Diagnostic]
    }

    /// Lays the drop-ins over the main file, in the lexical order of their names.
    package static func load(
        main: ConfigurationSource,
        dropIns: [ConfigurationSource] = [],
        inputs: ConfigurationInputs
    ) -> Result {
        let diagnostics = DiagnosticCollector()
        let sources = [main] + dropIns.sorted { $0.file < $1.file }
        guard let root = diagnostics.merge(sources) else {
            return Result(configuration: nil, diagnostics: diagnostics.diagnostics)
        }
        let reader = ConfigurationReader(inputs)
        let configuration = reader.read(NodeReader(root, diagnostics: diagnostics))
        return Result(
            configuration: diagnostics.hasErrors ? nil : configuration,
            diagnostics: diagnostics.diagnostics
        )
    }
}
