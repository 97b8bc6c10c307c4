import PostgreSQL
import ServerStore
import Versions

/// The remains of earlier generations of a file: rows at or before its base version, and rows of client files of
/// another generation.
enum RemainsRows {
    /// Rows of one statement.
    static let portion = 10_000

    /// Files that are behind their app, or still have history or client files of before. By id.
    static func reading(of app: AppID, after file: ServerFileID?, limit: Int) -> Step {
        Step(
            """
            SELECT f.file_id FROM (
                SELECT file_id, base_version, generation FROM server_file
                WHERE app_id = $1 AND file_id > $2 ORDER BY file_id OFFSET 0
            ) f
            WHERE f.generation < (SELECT generation FROM app WHERE app_id = $1)
                OR (SELECT version FROM history WHERE file_id = f.file_id
                    ORDER BY version LIMIT 1) <= f.base_version
                OR (SELECT true FROM client_file
                    WHERE file_id = f.file_id AND generation < f.generation AND NOT is_expired
                    LIMIT 1)
            LIMIT $3
            """,
            [
                .string(app.rawValue), .integer(file?.rawValue ?? Int64.min),
                .integer(Int64(max(0, limit))),
            ]
        )
    }

    /// Statements that remove a portion each. The history goes last: it shows that there are remains.
    static func portions(of file: ServerFile) -> [Step] {
        let values: [Value] = [
            .integer(file.id.rawValue), .number(file.baseVersion.version.rawValue),
        ]
        return [
            Step(
                """
                DELETE FROM touched_object WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM touched_object WHERE file_id = $1 AND version < $2
                    LIMIT 10000))
                """,
                values
            ),
            Step(
                """
                DELETE FROM reciprocal WHERE ctid = ANY (ARRAY(
                    SELECT ctid FROM reciprocal WHERE file_id = $1 AND version < $2
                    LIMIT 10000))
                """,
                values
            ),
            HistoryRows.removal(of: file.id, upTo: file.baseVersion.version),
        ]
    }

    /// The rest: views, and the records of client files, which stay so that their idents are known.
    static func end(of file: ServerFile) -> [Step] {
        let values: [Value] = [.integer(file.id.rawValue), .number(file.generation)]
        return [
            Step(
                """
                DELETE FROM view_epoch WHERE file_id = $1 AND ident IN (
                    SELECT ident FROM client_file WHERE file_id = $1 AND generation < $2)
                """,
                values
            ),
            Step(
                """
                DELETE FROM view_range WHERE file_id = $1 AND ident IN (
                    SELECT ident FROM client_file WHERE file_id = $1 AND generation < $2)
                """,
                values
            ),
            Step(
                """
                DELETE FROM write_rejection WHERE file_id = $1 AND ident IN (
                    SELECT ident FROM client_file WHERE file_id = $1 AND generation < $2)
                """,
                values
            ),
            Step(
                """
                UPDATE client_file SET is_expired = true, history_bytes = 0
                WHERE file_id = $1 AND generation < $2 AND NOT is_expired
                """,
                values
            ),
            Step(
                """
                DELETE FROM snapshot s WHERE file_id = $1 AND NOT EXISTS (
                    SELECT FROM client_file c WHERE c.file_id = $1 AND c.generation = $2
                        AND c.snapshot_version = s.snapshot_version)
                    AND snapshot_version < (SELECT base_version FROM server_file WHERE file_id = $1)
                """,
                values
            ),
        ]
    }
}
