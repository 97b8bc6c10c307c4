package import YAML

/// A text of the configuration, and its name in messages.
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

extension DiagnosticCollector {
    /// The documents of all texts, merged in order; nil, and reported, if one of them is invalid.
    ///
    /// `check` sees each document before it is merged.
    package func merge(
        _ sources: [ConfigurationSource],
        check: (YAMLNode) -> YAMLNode = { $0 }
    ) -> YAMLNode? {
        let documents = sources.compactMap { source in
            parse(source.bytes, file: source.file).flatMap { mapping($0) }.map(check)
        }
        // If some files are missing, references could be to names that they declare.
        guard documents.count == sources.count, let first = documents.first else { return nil }
        return documents.dropFirst().reduce(first) { $0.merged(with: $1) }
    }

    /// The root of a file, which must be a mapping to be merged with others.
    private func mapping(_ root: YAMLNode) -> YAMLNode? {
        if case .mapping = root.content { return root }
        if root.isNull {
            return YAMLNode(location: root.location, content: .mapping(YAMLMapping()))
        }
        NodeReader(root, diagnostics: self).reportWrongType(expected: "a mapping")
        return nil
    }
}
