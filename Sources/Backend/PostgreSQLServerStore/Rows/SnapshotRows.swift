import Changesets
import PostgreSQL
import ServerStore
import Versions

/// The table `snapshot`.
enum SnapshotRows {
    static let versionsAtOnce = 1024
    /// About the bytes of one page.
    static let bytesAtOnce = 1 << 20

    /// The next changesets of a snapshot, up to about a MiB of them: version, time, changeset.
    static func readingPage(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT version, made_at, changeset FROM (
                SELECT version, made_at, changeset,
                    sum(octet_length(changeset)) OVER (ORDER BY version)
                        - octet_length(changeset) AS before
                FROM (
                    SELECT version, made_at, changeset FROM snapshot
                    WHERE file_id = $1 AND snapshot_version = $2 AND version > $3
                    ORDER BY version LIMIT 64
                ) p
            ) q WHERE before <= $4 ORDER BY version
            """,
            [
                .integer(file.rawValue), .number(snapshot.rawValue), .number(version.rawValue),
                .integer(Int64(bytesAtOnce)),
            ]
        )
    }

    /// Those of some versions, up to the same size.
    static func reading(
        _ versions: ArraySlice<ServerVersion>,
        of file: ServerFileID,
        in snapshot: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT version, made_at, changeset FROM (
                SELECT s.*, sum(octet_length(s.changeset)) OVER (ORDER BY s.version)
                    - octet_length(s.changeset) AS before
                FROM unnest($3::int8[]) u(version) CROSS JOIN LATERAL (
                    SELECT version, made_at, changeset FROM snapshot
                    WHERE file_id = $1 AND snapshot_version = $2 AND version = u.version OFFSET 0
                ) s
            ) q WHERE before <= $4 ORDER BY version
            """,
            [
                .integer(file.rawValue), .number(snapshot.rawValue),
                .integers(versions.map { Int64(clamping: $0.rawValue) }),
                .integer(Int64(bytesAtOnce)),
            ]
        )
    }

    /// Whether no other transaction has claimed the snapshot of a file; the claim ends with this one. Of
    /// its first byte: the numbers of jobs and layouts are others.
    static func claiming(_ file: ServerFileID) -> Step {
        Step(
            """
            SELECT pg_try_advisory_xact_lock(x'5300000000000000'::int8
                | (hashtextextended(store_id::text, $1) & x'00ffffffffffffff'::int8))
            FROM layout
            """,
            [.integer(file.rawValue)]
        )
    }

    static func entry(_ rows: StoredRows, _ row: Int) throws(StoreError) -> HistoryEntry {
        HistoryEntry(
            version: SaltedServerVersion(
                version: ServerVersion(try rows.number(row, 0)),
                salt: .none
            ),
            origin: .none,
            clientVersion: .zero,
            timestamp: OriginTimestamp(millisecondsSince1970: try rows.integer(row, 1))
                ?? OriginTimestamp(0),
            changeset: try rows.bytes(row, 2),
            cumulativeSizeInBytes: 0
        )
    }

    static func insertion(
        of changeset: [UInt8],
        at version: ServerVersion,
        of snapshot: ServerVersion,
        in file: ServerFileID,
        at now: Int64
    ) -> Step {
        Step(
            """
            INSERT INTO snapshot (file_id, snapshot_version, version, made_at, changeset)
            VALUES ($1, $2, $3, $4, $5)
            """,
            [
                .integer(file.rawValue), .number(snapshot.rawValue), .number(version.rawValue),
                .integer(now), .bytes(changeset),
            ]
        )
    }

    static func removal(of file: ServerFileID, only snapshot: ServerVersion) -> Step {
        Step(
            "DELETE FROM snapshot WHERE file_id = $1 AND snapshot_version = $2",
            [.integer(file.rawValue), .number(snapshot.rawValue)]
        )
    }

    /// Removes those that neither the file nor a client needs. A client needs its snapshot until its
    /// merges begin after it.
    static func removalOfUnneeded(of file: ServerFileID) -> Step {
        Step(
            """
            DELETE FROM snapshot WHERE file_id = $1
                AND snapshot_version <
                    (SELECT snapshot_version FROM server_file WHERE file_id = $1)
                AND snapshot_version <> ALL (ARRAY(
                    SELECT snapshot_version FROM client_file
                    WHERE file_id = $1 AND NOT is_expired
                        AND recip_base_version < snapshot_version))
            """,
            [.integer(file.rawValue)]
        )
    }

    static func removalOfUnfinished(of file: ServerFileID) -> Step {
        Step(
            """
            DELETE FROM snapshot WHERE file_id = $1 AND snapshot_version >
                (SELECT snapshot_version FROM server_file WHERE file_id = $1)
            """,
            [.integer(file.rawValue)]
        )
    }

    static func removal(of file: ServerFileID) -> Step {
        Step("DELETE FROM snapshot WHERE file_id = $1", [.integer(file.rawValue)])
    }
}
