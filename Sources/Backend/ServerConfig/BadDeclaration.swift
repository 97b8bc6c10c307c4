import Settings

/// The text is not a valid configuration of an app.
package struct BadDeclaration: Error, CustomStringConvertible {
    let diagnostics: [Diagnostic]

    package var description: String {
        diagnostics.map(\.description).joined(separator: "\n")
    }
}
