package import Settings
import YAML

extension ServerConfigurationReader {
    /// Finds the admin socket of these texts despite their other mistakes: a running server may
    /// have kept an earlier configuration.
    ///
    /// - Returns: the path, or the mistakes that hide it.
    package static func adminSocketPath(
        _ sources: [ConfigurationSource]
    ) -> (path: String?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        guard let root = diagnostics.merge(sources) else { return (nil, diagnostics.diagnostics) }
        var section = YAMLMapping()
        if case .mapping(let whole) = root.content,
            case .mapping(let server)? = whole["server"]?.value.content
        {
            section.entries = server.entries.filter {
                $0.key == "storage" || $0.key == "admin_socket"
            }
        }
        let node = YAMLNode(location: root.location, content: .mapping(section))
        let path = SettingPath.root.appending("server")
        let reader = NodeReader(node, path: path, diagnostics: diagnostics)
        let configuration = reader.mapping { server($0, nil) }
        return (
            diagnostics.hasErrors ? nil : configuration?.adminSocketPath,
            diagnostics.diagnostics
        )
    }
}
