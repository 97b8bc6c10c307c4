package import YAML

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

extension DiagnosticCollector {
    /// The documents of all texts, each laid over those before it; nil, and reported, if one of them
    /// is none.
    ///
    /// `check` sees each document before it is merged.
    package func merge(
        _ sources: [ConfigurationSource],
        check: (YAMLNode) -> YAMLNode = { $0 }
    ) -> YAMLNode? {
        let documents = sources.compactMap { source in
            parse(source.bytes, file: source.file).flatMap { mapping($0) }.map(check)
        }
        // What was read of some files would be compared with names that the others declare.
        guard documents.count == sources.count, let first = documents.first else { return nil }
        return documents.dropFirst().reduce(first) { $0.merged(with: $1) }
    }

    /// The root of a file, which has to be a mapping before it is merged with others.
    private func mapping(_ root: YAMLNode) -> YAMLNode? {
        if case .mapping = root.content { return root }
        if root.isNull {
            return YAMLNode(location: root.location, content: .mapping(YAMLMapping()))
        }
        NodeReader(root, diagnostics: self).reportWrongType(expected: "a mapping")
        return nil
    }
}
