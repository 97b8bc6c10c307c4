internal import SQLite

/// What a transaction is about to commit: the realm takes it over once the commit has succeeded.
struct Draft {
    var state: RealmState
    var catalogue: Catalogue
    /// `PRAGMA schema_version` when the tables were last found as the catalogue has them.
    var schemaVersion: Int64?
    /// Applications' UNIQUE indexes on class tables, found then.
    var uniqueIndexes: [String] = []

    /// Tables or triggers are not as the agent made them (local realm, 7.4).
    struct Altered: Error {
        let alterations: [String]
    }

    /// Compares the file with the catalogue if anybody has changed its schema since the last time.
    mutating func verify(on connection: Connection) throws {
        let current = try connection.integer("PRAGMA schema_version")
        guard current != schemaVersion else { return }
        let findings = try SchemaVerifier(connection: connection, catalogue: catalogue).verify()
        guard findings.alterations.isEmpty else {
            throw Altered(alterations: findings.alterations)
        }
        uniqueIndexes = findings.uniqueIndexes
        schemaVersion = current
    }

    /// Takes over what an editor has made of the tables in the current transaction.
    mutating func adopt(_ editor: SchemaEditor) throws(SQLiteError) {
        catalogue = editor.catalogue
        if editor.hasChangedTables {
            schemaVersion = try editor.connection.integer("PRAGMA schema_version")
        }
    }
}
