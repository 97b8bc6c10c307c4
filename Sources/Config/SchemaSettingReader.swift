import SchemaFiles
import Settings
import YAML

/// Reads the schemas of realms, from the configuration or from files of their own.
final class SchemaSettingReader {
    private let inputs: ConfigurationInputs
    /// Several realms may share a schema file: it is read, and complained about, once.
    private var files: [String: SchemaDeclaration?] = [:]

    init(_ inputs: ConfigurationInputs) {
        self.inputs = inputs
    }

    func read(_ reader: NodeReader) -> SchemaDeclaration? {
        reader.either(scalar: readFile, collection: SchemaFile.read)
    }

    private func readFile(_ reader: NodeReader) -> SchemaDeclaration? {
        guard let path = reader.absolutePath() else { return nil }
        if let known = files[path] { return known }
        var declaration: SchemaDeclaration?
        switch inputs.readFile(path) {
        case .success(let bytes):
            declaration = reader.diagnostics.parse(bytes, file: path).flatMap {
                SchemaFile.read(NodeReader($0, diagnostics: reader.diagnostics))
            }
        case .failure(let failure):
            reader.report(
                .unreadable,
                "cannot read \(quoted(path)): \(failure.reason)",
                remedy: "make it readable for the agent, or correct the path"
            )
        }
        files[path] = .some(declaration)
        return declaration
    }
}
