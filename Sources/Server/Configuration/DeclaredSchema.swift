import FoundationEssentials
import SchemaFiles
package import Schemas
import Settings

/// Reads the schema file of an app.
package enum DeclaredSchema {
    /// The file is not there, or what is in it is no schema.
    package struct Unusable: CodedError, CustomStringConvertible {
        package let code = "server.schema"
        package let description: String
    }

    package static func read(_ path: String) throws(Unusable) -> RealmSchema {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else {
            throw Unusable(description: "\(path) cannot be read")
        }
        let (declaration, diagnostics) = SchemaFile.parse(Array(data), file: path)
        guard let declaration else {
            throw Unusable(
                description: diagnostics.map(\.description).joined(separator: "\n")
            )
        }
        return declaration.schema
    }
}
