import PostgreSQL
import ServerStore
import Versions

/// The table `reciprocal`.
enum ReciprocalRows {
    static let rowsAtOnce = 1024
    private static let bytesAtOnce = 1 << 20

    /// Whether a page with so much in it may not be the last one.
    static func isFull(rows: Int, bytes: Int) -> Bool {
        rows == rowsAtOnce || bytes > bytesAtOnce
    }

    /// The next reciprocals of a client, up to about a MiB of them.
    static func readingPage(
        for ident: FileIdent,
        in file: ServerFileID,
        after version: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT version, changeset FROM (
                SELECT version, changeset,
                    sum(octet_length(changeset)) OVER (ORDER BY version)
                        - octet_length(changeset) AS before
                FROM (
                    SELECT version, changeset FROM reciprocal
                    WHERE file_id = $1 AND ident = $2 AND version > $3 ORDER BY version LIMIT $4
                ) p
            ) q WHERE before <= $5 ORDER BY version
            """,
            [
                .integer(file.rawValue), .number(ident.rawValue), .number(version.rawValue),
                .integer(Int64(rowsAtOnce)), .integer(Int64(bytesAtOnce)),
            ]
        )
    }

    static func putting(
        _ changesets: [ServerVersion: [UInt8]],
        for ident: FileIdent,
        in file: ServerFileID
    ) -> Step {
        let sorted = changesets.sorted { $0.key < $1.key }
        return Step(
            """
            INSERT INTO reciprocal (file_id, ident, version, changeset)
            SELECT $1, $2, u.* FROM unnest($3::int8[], $4::bytea[]) u
            ON CONFLICT (file_id, ident, version) DO UPDATE SET changeset = excluded.changeset
            """,
            [
                .integer(file.rawValue), .number(ident.rawValue),
                .integers(sorted.map { Int64(clamping: $0.key.rawValue) }),
                .byteStrings(sorted.map(\.value)),
            ]
        )
    }

    static func removal(
        for ident: FileIdent,
        in file: ServerFileID,
        upTo version: ServerVersion
    ) -> Step {
        Step(
            "DELETE FROM reciprocal WHERE file_id = $1 AND ident = $2 AND version <= $3",
            [.integer(file.rawValue), .number(ident.rawValue), .number(version.rawValue)]
        )
    }

    static func removal(for ident: FileIdent, in file: ServerFileID) -> Step {
        Step(
            "DELETE FROM reciprocal WHERE file_id = $1 AND ident = $2",
            [.integer(file.rawValue), .number(ident.rawValue)]
        )
    }

    /// Removes those of all clients up to a version.
    static func removal(in file: ServerFileID, upTo version: ServerVersion) -> Step {
        Step(
            "DELETE FROM reciprocal WHERE file_id = $1 AND version <= $2",
            [.integer(file.rawValue), .number(version.rawValue)]
        )
    }
}
