import Settings

/// Reads a text, and returns the result with the diagnostics.
func read<Value>(
    _ text: String,
    _ body: (NodeReader) -> Value?
) -> (value: Value?, messages: [String]) {
    let diagnostics = DiagnosticCollector()
    let value = diagnostics.parse(Array(text.utf8), file: "f.yaml").flatMap {
        body(NodeReader($0, diagnostics: diagnostics))
    }
    return (value, diagnostics.diagnostics.map(\.description))
}

/// Reads the value of the only key, `a`.
func readValue<Value>(
    _ text: String,
    _ body: (NodeReader) -> Value?
) -> (value: Value?, messages: [String]) {
    read("a: \(text)\n") { root in
        root.mapping { keys in keys.required("a", body) }
    }
}
