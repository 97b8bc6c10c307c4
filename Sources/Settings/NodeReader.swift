package import YAML

/// Reads one value of a document: it answers with the value, or reports why not and answers nil.
package struct NodeReader {
    package let node: YAMLNode
    package let path: SettingPath
    package let diagnostics: DiagnosticCollector

    package init(
        _ node: YAMLNode,
        path: SettingPath = .root,
        diagnostics: DiagnosticCollector
    ) {
        self.node = node
        self.path = path
        self.diagnostics = diagnostics
    }

    package func report(
        _ code: Diagnostic.Code,
        severity: Diagnostic.Severity = .error,
        _ problem: String,
        remedy: String
    ) {
        diagnostics.report(
            Diagnostic(
                at: node.location,
                severity: severity,
                code,
                path,
                problem,
                remedy: remedy
            )
        )
    }
}

// MARK: Collections

extension NodeReader {
    /// Lets `read` ask for the keys it knows, and reports the others; nothing counts as `{}`.
    package func mapping<Value>(
        expected: String = "a mapping",
        _ read: (MappingReader) -> Value?
    ) -> Value? {
        guard let mapping = mappingContent(expected: expected) else { return nil }
        let keys = MappingReader(mapping, of: self)
        let value = read(keys)
        keys.finish()
        return value
    }

    /// The values of a mapping whose keys are free names; nothing counts as `{}`.
    package func entries() -> [Entry] {
        (mappingContent(expected: "a mapping")?.entries ?? []).map { entry in
            Entry(
                name: entry.key,
                nameLocation: entry.keyLocation,
                value: NodeReader(
                    entry.value,
                    path: path.appending(entry.key),
                    diagnostics: diagnostics
                )
            )
        }
    }

    package struct Entry {
        package let name: String
        package let nameLocation: TextLocation
        package let value: NodeReader
    }

    package func elements() -> [NodeReader]? {
        guard case .sequence(let elements) = node.content else {
            reportWrongType(expected: "a list")
            return nil
        }
        return elements.enumerated().map { index, element in
            NodeReader(element, path: path.appending(index: index), diagnostics: diagnostics)
        }
    }

    private func mappingContent(expected: String) -> YAMLMapping? {
        if node.isNull { return YAMLMapping() }
        guard case .mapping(let mapping) = node.content else {
            reportWrongType(expected: expected)
            return nil
        }
        for duplicate in mapping.duplicates {
            diagnostics.report(
                Diagnostic(
                    at: duplicate.location,
                    .duplicateKey,
                    path.appending(duplicate.key),
                    "stands twice, first at \(duplicate.first)",
                    remedy: "keep one of the two"
                )
            )
        }
        return mapping
    }
}

// MARK: What scalars have in common

extension NodeReader {
    /// The scalar of a value that may not be left empty.
    func scalar(expected: String) -> YAMLScalar? {
        guard case .scalar(let scalar) = node.content else {
            reportWrongType(expected: expected)
            return nil
        }
        guard !node.isNull else {
            report(.wrongType, "is empty", remedy: "give \(expected), or remove the key")
            return nil
        }
        return scalar
    }

    package func reportWrongType(expected: String) {
        let found =
            switch node.content {
            case .sequence: "a list"
            case .mapping: "a mapping"
            case .scalar(let scalar) where scalar.style == .plain: quoted(scalar.text)
            case .scalar: "a string"
            }
        report(.wrongType, "found \(found)", remedy: "give \(expected)")
    }
}
