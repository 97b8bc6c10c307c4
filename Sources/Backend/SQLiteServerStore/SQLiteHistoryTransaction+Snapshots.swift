import SQLite
import ServerStore
import Versions

/// Snapshots of server files.
extension SQLiteHistoryTransaction {
    func forEachSnapshotEntry(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                """
                SELECT version, made_at, changeset FROM snapshot
                WHERE file_id = ? AND snapshot_version = ? AND version > ? ORDER BY version
                """
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(snapshot.rawValue), .number(version.rawValue),
            ])
            while try statement.step() {
                let madeAt = statement.integer(at: 1)
                let entry = HistoryEntry(
                    version: SaltedServerVersion(
                        version: ServerVersion(statement.number(at: 0)),
                        salt: .none
                    ),
                    origin: .none,
                    clientVersion: .zero,
                    timestamp: OriginTimestamp(millisecondsSince1970: madeAt)
                        ?? OriginTimestamp(0),
                    changeset: statement.bytes(at: 2),
                    cumulativeSizeInBytes: 0
                )
                if try visit(entry) == .stop { return }
            }
        }
    }

    func documentSize(in file: ServerFileID) throws(StoreError) -> UInt64 {
        let size = try translating {
            try connection.integer(
                "SELECT coalesce(sum(length(document)), 0) FROM object WHERE file_id = ?",
                [.integer(file.rawValue)]
            )
        }
        return UInt64(clamping: size ?? 0)
    }

    func appendSnapshot(
        _ changeset: [UInt8],
        at version: ServerVersion,
        of snapshot: ServerVersion,
        in file: ServerFileID,
        at now: Int64
    ) throws(StoreError) {
        try translating {
            try connection.run(
                """
                INSERT INTO snapshot (file_id, snapshot_version, version, made_at, changeset)
                VALUES (?, ?, ?, ?, ?)
                """,
                [
                    .integer(file.rawValue), .number(snapshot.rawValue),
                    .number(version.rawValue), .integer(now), .blob(changeset),
                ]
            )
        }
    }

    func removeSnapshots(
        of file: ServerFileID,
        only snapshot: ServerVersion?
    ) throws(StoreError) {
        try translating {
            guard let snapshot else {
                // Once a client's merges begin after its snapshot, the client no longer needs it.
                return try connection.run(
                    """
                    DELETE FROM snapshot WHERE file_id = ?1
                        AND snapshot_version <
                            (SELECT snapshot_version FROM server_file WHERE file_id = ?1)
                        AND snapshot_version NOT IN (
                            SELECT snapshot_version FROM client_file
                            WHERE file_id = ?1 AND NOT is_expired
                                AND recip_base_version < snapshot_version)
                    """,
                    [.integer(file.rawValue)]
                )
            }
            try connection.run(
                "DELETE FROM snapshot WHERE file_id = ? AND snapshot_version = ?",
                [.integer(file.rawValue), .number(snapshot.rawValue)]
            )
        }
    }

    func removeUnfinishedSnapshots(of file: ServerFileID) throws(StoreError) {
        try translating {
            try connection.run(
                """
                DELETE FROM snapshot WHERE file_id = ?1 AND snapshot_version >
                    (SELECT snapshot_version FROM server_file WHERE file_id = ?1)
                """,
                [.integer(file.rawValue)]
            )
        }
    }

    func trimHistory(of file: ServerFileID, upTo version: ServerVersion) throws(StoreError) {
        try translating {
            try connection.run(
                """
                UPDATE client_file SET history_bytes = max(0, history_bytes - trimmed.bytes)
                FROM (SELECT origin_file_ident AS origin, sum(length(changeset)) AS bytes
                    FROM history WHERE file_id = ?1 AND version <= ?2 GROUP BY origin) AS trimmed
                WHERE client_file.file_id = ?1 AND client_file.ident = trimmed.origin
                """,
                [.integer(file.rawValue), .number(version.rawValue)]
            )
            for table in ["history", "reciprocal", "touched_object"] {
                try connection.run(
                    "DELETE FROM \(table) WHERE file_id = ? AND version <= ?",
                    [.integer(file.rawValue), .number(version.rawValue)]
                )
            }
        }
    }
}
