package import Settings
import YAML

/// A text of the configuration, and the name it has in messages.
package struct ConfigurationSource: Hashable, Sendable {
    package let file: String
    package let bytes: [UInt8]

    package init(file: String, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
    }

    /// Whether a file of this name in the drop-in directory belongs to the configuration.
    package static func isDropIn(fileName: String) -> Bool {
        fileName.hasSuffix(".yaml") && !fileName.hasPrefix(".")
    }
}

/// Turns texts into a configuration, and reports everything that is wrong with them at once.
package enum ConfigurationLoader {
    package struct Result: Sendable {
        /// Nil if any diagnostic is an error.
        package let configuration: AgentConfiguration?
        package let diagnostics: [Diagnostic]
    }

    /// Lays the drop-ins over the main file, in the lexical order of their names.
    package static func load(
        main: ConfigurationSource,
        dropIns: [ConfigurationSource] = [],
        surroundings: Surroundings
    ) -> Result {
        let diagnostics = DiagnosticCollector()
        let sources = [main] + dropIns.sorted { $0.file < $1.file }
        let documents = sources.compactMap { source in
            diagnostics.parse(source.bytes, file: source.file).flatMap { root in
                checked(root, diagnostics)
            }
        }
        // What was read of some files would be compared with names that the others declare.
        guard documents.count == sources.count, let first = documents.first else {
            return Result(configuration: nil, diagnostics: diagnostics.diagnostics)
        }
        let root = documents.dropFirst().reduce(first) { $0.merged(with: $1) }
        let reader = ConfigurationReader(surroundings)
        let configuration = reader.read(NodeReader(root, diagnostics: diagnostics))
        return Result(
            configuration: diagnostics.hasErrors ? nil : configuration,
            diagnostics: diagnostics.diagnostics
        )
    }

    /// The root of a file, which has to be a mapping before it is merged with others.
    private static func checked(
        _ root: YAMLNode,
        _ diagnostics: DiagnosticCollector
    ) -> YAMLNode? {
        if case .mapping = root.content { return root }
        if root.isNull {
            return YAMLNode(location: root.location, content: .mapping(YAMLMapping()))
        }
        NodeReader(root, diagnostics: diagnostics).reportWrongType(expected: "a mapping")
        return nil
    }
}
