import LocalRealm
import SchemaFiles

/// The schema of a realm file, in the forms that `realm-agent schema` prints.
package struct SchemaReport: Sendable {
    private let stored: RealmFileSchema

    package struct Failure: Error {
        /// The code of the realm's error.
        package let code: String
        package let description: String
    }

    /// Reads the file, without an agent or disturbing a running one.
    package init(path: String) throws(Failure) {
        do throws(LocalRealmError) {
            self.stored = try RealmFileSchema.read(path: path)
        } catch {
            throw Failure(code: error.code, description: error.description)
        }
    }

    /// The schema as the value of `realms.NAME.schema`, or as a schema file.
    package var yaml: String { SchemaFile.text(of: declaration) }

    /// The schema as JSON.
    package var json: String { SchemaFile.json(of: declaration) }

    /// The tables as the file declares them.
    package var sql: String { stored.tables.map { "\($0);\n" }.joined(separator: "\n") }

    private var declaration: SchemaDeclaration {
        SchemaDeclaration(schema: stored.schema, options: stored.options)
    }
}
