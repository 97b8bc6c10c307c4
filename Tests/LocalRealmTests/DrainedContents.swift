import SQLite
import Schemas

/// All that a drain may write, to compare two ways of draining one file.
struct DrainedContents: Equatable {
    private let rows: [[[SQLiteValue]]]

    init(_ connection: Connection, _ schema: RealmSchema) throws {
        let classes = schema.classes.filter { !$0.isEmbedded }.map { "\"\($0.name)\"" }.sorted()
        let queries = [
            "SELECT version, origin_timestamp, changeset FROM _realm_history ORDER BY version",
            "SELECT id, published FROM _realm_class ORDER BY id",
            "SELECT id, published FROM _realm_property ORDER BY id",
            "SELECT local_version, uploadable_bytes, last_origin_timestamp FROM _realm_state",
            "SELECT * FROM _realm_issue ORDER BY id",
            "SELECT * FROM _realm_backlink ORDER BY 1, 2, 3, 4, 5",
            "SELECT * FROM _realm_capture",
        ]
        rows =
            try queries.map { try connection.rows($0) }
            + classes.map { try connection.rows("SELECT * FROM \($0) ORDER BY _id") }
    }
}
