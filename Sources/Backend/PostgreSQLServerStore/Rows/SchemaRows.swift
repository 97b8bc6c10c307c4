import PostgreSQL
import Schemas
import Scopes
import ServerStore

/// The table `file_schema`: the schema of a file, in a row that few writes touch.
enum SchemaRows {
    /// The schema, unless it is the version that the reader knows.
    ///
    /// - Parameter known: -1 if the reader knows none.
    static func reading(of file: ServerFileID, unless known: Int64) -> Step {
        Step(
            """
            SELECT schema_version, schema FROM file_schema
            WHERE file_id = $1 AND schema_version <> $2
            """,
            [.integer(file.rawValue), .integer(known)]
        )
    }

    /// The file of a partition and its schema; NULL for a file without one.
    static func reading(of partition: Partition, in app: AppID) -> Step {
        Step(
            """
            SELECT f.file_id, s.schema FROM server_file f LEFT JOIN file_schema s USING (file_id)
            WHERE f.app_id = $1 AND f.partition = $2
            """,
            [.string(app.rawValue), .string(partition.canonicalText)]
        )
    }

    /// - Parameter bytes: nil is the empty schema.
    static func decode(
        _ bytes: [UInt8]?,
        of file: ServerFileID
    ) throws(StoreError) -> RealmSchema {
        guard let bytes else { return RealmSchema() }
        guard let schema = StoredSchema.decode(bytes) else {
            throw .damaged("the schema of server file \(file.rawValue)")
        }
        return schema
    }

    /// The version and the encoded schema.
    static func schema(
        _ rows: StoredRows
    ) throws(StoreError) -> (version: Int64, bytes: [UInt8])? {
        guard !rows.isEmpty else { return nil }
        return (try rows.integer(0, 0), try rows.bytes(0, 1))
    }

    static func putting(
        _ schema: RealmSchema,
        version: Int64,
        of file: ServerFileID
    ) -> Step {
        Step(
            """
            INSERT INTO file_schema (file_id, schema_version, schema) VALUES ($1, $2, $3)
            ON CONFLICT (file_id) DO UPDATE SET schema_version = excluded.schema_version,
                schema = excluded.schema
            """,
            [.integer(file.rawValue), .integer(version), .bytes(StoredSchema.encode(schema))]
        )
    }

    static func removal(of file: ServerFileID) -> Step {
        Step("DELETE FROM file_schema WHERE file_id = $1", [.integer(file.rawValue)])
    }
}
