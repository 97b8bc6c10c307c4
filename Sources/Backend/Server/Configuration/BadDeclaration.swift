import Settings

/// The text is not a valid configuration of an app.
struct BadDeclaration: Error, CustomStringConvertible {
    let diagnostics: [Diagnostic]

    var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}
