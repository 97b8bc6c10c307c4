package import Settings
import YAML

extension ConfigurationParser {
    /// Where the agent of these texts listens, whatever else is wrong with them.
    ///
    /// Who asks a running agent needs no more: the agent may go on with a configuration that is no
    /// longer the one on disk, and variables that its texts name need not be in the asker's
    /// environment.
    ///
    /// - Returns: a path, or what stands in the way of one.
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
