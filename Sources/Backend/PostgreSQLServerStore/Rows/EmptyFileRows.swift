import PostgreSQL
import ServerStore

/// Server files without a change from a client and without objects.
enum EmptyFileRows {
    /// By id, after the one named. Each condition looks at the rows of one file.
    static func reading(
        of app: AppID,
        seenBefore time: Int64?,
        after file: ServerFileID?,
        limit: Int
    ) -> Step {
        Step(
            """
            SELECT f.file_id FROM (
                SELECT file_id FROM server_file
                WHERE app_id = $2 AND file_id > $3 AND base_version = 0
                ORDER BY file_id OFFSET 0
            ) f
            WHERE (SELECT true FROM client_file
                    WHERE file_id = f.file_id
                        AND ($1::int8 IS NULL OR last_seen_at >= $1 OR client_version > 0)
                    LIMIT 1) IS NULL
                AND (SELECT true FROM history
                    WHERE file_id = f.file_id AND origin_file_ident <> 0 LIMIT 1) IS NULL
                AND (SELECT true FROM object WHERE file_id = f.file_id LIMIT 1) IS NULL
            LIMIT $4
            """,
            [
                .integer(time), .string(app.rawValue), .integer(file?.rawValue ?? Int64.min),
                .integer(Int64(max(0, limit))),
            ]
        )
    }

    /// One row if the file is empty.
    static func reading(_ file: ServerFileID, seenBefore time: Int64?) -> Step {
        Step(
            """
            SELECT f.file_id FROM (
                SELECT file_id FROM server_file
                WHERE file_id = $2 AND base_version = 0 OFFSET 0
            ) f
            WHERE (SELECT true FROM client_file
                    WHERE file_id = f.file_id
                        AND ($1::int8 IS NULL OR last_seen_at >= $1 OR client_version > 0)
                    LIMIT 1) IS NULL
                AND (SELECT true FROM history
                    WHERE file_id = f.file_id AND origin_file_ident <> 0 LIMIT 1) IS NULL
                AND (SELECT true FROM object WHERE file_id = f.file_id LIMIT 1) IS NULL
            """,
            [.integer(time), .integer(file.rawValue)]
        )
    }
}

/// Everything that belongs to server files.
enum FileContent {
    /// Removes a file with its records; those of which there are many are removed before, in portions.
    static func removal(of file: ServerFileID) -> [Step] {
        let id = [Value.integer(file.rawValue)]
        return [
            Step("DELETE FROM client_file WHERE file_id = $1", id),
            Step("DELETE FROM reciprocal WHERE file_id = $1", id),
            Step("DELETE FROM snapshot WHERE file_id = $1", id),
            SchemaRows.removal(of: file), ServerFileRows.removal(of: file),
        ] + ClientViewRows.removal(in: file)
    }
}
