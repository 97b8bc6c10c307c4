package import Settings
import YAML

extension ConfigurationParser {
    /// The control socket of an agent with these texts, even if they have other mistakes.
    ///
    /// Clients of a running agent need only this. The agent may run an older configuration than the
    /// one on disk, and the client's environment may lack variables that the texts name.
    ///
    /// - Returns: a path, or the mistakes that leave it unknown.
    package static func controlSocket(
        main: ConfigurationSource,
        dropIns: [ConfigurationSource] = []
    ) -> (path: String?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        let sources = [main] + dropIns.sorted { $0.file < $1.file }
        guard let root = diagnostics.merge(sources) else { return (nil, diagnostics.diagnostics) }
        let keys = ["agent", "control_socket"]
        let node = keys.reduce(YAMLNode?.some(root)) { node, key in
            guard case .mapping(let mapping) = node?.content else { return nil }
            return mapping[key]?.value
        }
        guard let node else { return (DaemonConfiguration.standardControlSocket, []) }
        let path = keys.reduce(SettingPath.root) { $0.appending($1) }
        let reader = NodeReader(node, path: path, diagnostics: diagnostics)
        return (ConfigurationReader.socketPath(reader), diagnostics.diagnostics)
    }
}
