package import Settings

/// The YAML form of a schema (interfaces, 3): reads it with a location for every mistake, and
/// prints it.
package enum SchemaFile {
    /// Reads a file; returns a declaration only if no diagnostic is an error.
    package static func parse(
        _ bytes: [UInt8],
        file: String
    ) -> (declaration: SchemaDeclaration?, diagnostics: [Diagnostic]) {
        let diagnostics = DiagnosticCollector()
        let declaration = diagnostics.parse(bytes, file: file).flatMap {
            read(NodeReader($0, diagnostics: diagnostics))
        }
        return (declaration, diagnostics.diagnostics)
    }

    /// Reads the same form inside another document.
    package static func read(_ reader: NodeReader) -> SchemaDeclaration? {
        let errorsBefore = reader.diagnostics.errorCount
        let drafts = reader.mapping { keys in
            keys.required("classes") { classes in classes.entries(ClassDraft.read) }
        }
        guard let drafts else { return nil }
        let declaration = SchemaChecker(drafts).declaration()
        return reader.diagnostics.errorCount == errorsBefore ? declaration : nil
    }

    /// The text that `parse` reads as the declaration.
    ///
    /// Names that are not UTF-8 cannot be written in YAML; their invalid bytes become U+FFFD.
    package static func text(of declaration: SchemaDeclaration) -> String {
        SchemaPrinter(declaration).text()
    }

    /// The same as JSON on one line, which `parse` also reads.
    package static func json(of declaration: SchemaDeclaration) -> String {
        SchemaPrinter(declaration).json()
    }
}
