import FoundationEssentials
import SchemaFiles
package import Schemas
import ServerStore
import Settings

/// Reads the schema file of an app.
package enum AppSchemaFile {
    /// The file is missing or not a schema.
    package struct Unusable: CodedError, CustomStringConvertible {
        package let code = "server.schema"
        package let description: String
    }

    package static func read(_ path: String) throws(Unusable) -> RealmSchema {
        guard let (schema, diagnostics) = parse(path) else {
            throw Unusable(description: "\(path) cannot be read")
        }
        guard let schema else {
            throw Unusable(
                description: diagnostics.map(\.description).joined(separator: "\n")
            )
        }
        return schema
    }

    /// The schema, or its mistakes; nil if the file cannot be read.
    static func parse(
        _ path: String
    ) -> (schema: RealmSchema?, diagnostics: [Diagnostic])? {
        guard let data = try? Data(contentsOf: URL(filePath: path)) else { return nil }
        let (declaration, diagnostics) = SchemaFile.parse(Array(data), file: path)
        return (declaration?.schema, diagnostics)
    }
}
