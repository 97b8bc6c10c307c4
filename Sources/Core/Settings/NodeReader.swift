package import YAML

/// Reads one value of a document: returns the value, or reports an error and returns nil.
///
/// A reader can also describe: then there is no document, each call is recorded as a part of the
/// form, and every result is nil. So the reading code is also the definition of what is accepted.
package struct NodeReader {
    package let node: YAMLNode
    package let path: SettingPath
    package let diagnostics: DiagnosticCollector
    /// Records the calls; nil while a document is read.
    let recorder: FormRecorder?

    package init(
        _ node: YAMLNode,
        path: SettingPath = .root,
        diagnostics: DiagnosticCollector
    ) {
        self.node = node
        self.path = path
        self.diagnostics = diagnostics
        self.recorder = nil
    }

    init(describing recorder: FormRecorder, path: SettingPath) {
        self.node = YAMLNode(
            location: TextLocation(file: "", line: 1, column: 1),
            content: .scalar(YAMLScalar(""))
        )
        self.path = path
        self.diagnostics = DiagnosticCollector()
        self.recorder = recorder
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
    /// Lets `read` read the keys it knows, and reports the others; null counts as `{}`.
    package func mapping<Value>(
        expected: String = "a mapping",
        _ read: (MappingReader) -> Value?
    ) -> Value? {
        if let recorder {
            let keys = MappingReader(describing: self)
            let value = read(keys)
            recorder.add(.mapping(keys.form))
            return value
        }
        guard let mapping = mappingContent(expected: expected) else { return nil }
        let keys = MappingReader(mapping, of: self)
        let value = read(keys)
        keys.finish()
        return value
    }

    /// The results of `read` for the values of a mapping with free names as keys; null counts as
    /// `{}`.
    package func entries<Value>(_ read: (Entry) -> Value) -> [Value] {
        guard let recorder else { return entries().map(read) }
        let element = FormRecorder()
        let value = NodeReader(describing: element, path: path.appending("NAME"))
        let values = [
            read(Entry(name: "NAME", nameLocation: node.location, value: value))
        ]
        recorder.add(.named(element.form))
        return values
    }

    /// The values of a mapping with free names as keys; null counts as `{}`.
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

    /// The results of `read` for the elements of a list, without those it cannot read.
    package func elements<Value>(_ read: (NodeReader) -> Value?) -> [Value]? {
        if let recorder {
            let element = FormRecorder()
            _ = read(NodeReader(describing: element, path: path.appending(index: 0)))
            recorder.add(.list(element.form))
            return nil
        }
        guard case .sequence(let elements) = node.content else {
            reportWrongType(expected: "a list")
            return nil
        }
        return elements.enumerated().compactMap { index, element in
            read(NodeReader(element, path: path.appending(index: index), diagnostics: diagnostics))
        }
    }

    /// Reads a value that may be written as a scalar or as a collection.
    package func either<Value>(
        scalar: (NodeReader) -> Value?,
        collection: (NodeReader) -> Value?
    ) -> Value? {
        if recorder != nil {
            _ = scalar(self)
            return collection(self)
        }
        if case .scalar = node.content { return scalar(self) }
        return collection(self)
    }

    /// Records a form that the calls do not show; does nothing while a document is read.
    package func describe(_ form: SettingForm) {
        recorder?.add(form)
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
                    "is repeated, first at \(duplicate.first)",
                    remedy: "keep one of the two"
                )
            )
        }
        return mapping
    }
}

// MARK: Shared by scalars

extension NodeReader {
    /// The scalar of a value that must not be empty; nil, and recorded, while describing.
    func scalar(expected: String, form: @autoclosure () -> SettingForm) -> YAMLScalar? {
        if let recorder {
            recorder.add(form())
            return nil
        }
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
