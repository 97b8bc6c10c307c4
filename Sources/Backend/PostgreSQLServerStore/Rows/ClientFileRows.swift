import PostgreSQL
import Scopes
import ServerStore
import Versions

/// The table `client_file`.
enum ClientFileRows {
    static func reading(_ ident: FileIdent, in file: ServerFileID) -> Step {
        Step(
            """
            SELECT ident, salt, user_id, generation, client_version, recip_base_version,
                locked_server_version, is_expired, session_epoch, last_seen_at, snapshot_version
            FROM client_file WHERE file_id = $1 AND ident = $2
            """,
            [.integer(file.rawValue), .number(ident.rawValue)]
        )
    }

    /// By ident.
    static func readingAll(in file: ServerFileID) -> Step {
        Step(
            """
            SELECT ident, salt, user_id, generation, client_version, recip_base_version,
                locked_server_version, is_expired, session_epoch, last_seen_at, snapshot_version
            FROM client_file WHERE file_id = $1 ORDER BY ident
            """,
            [.integer(file.rawValue)]
        )
    }

    static func clients(_ rows: StoredRows) throws(StoreError) -> [ClientFile] {
        try rows.map { row throws(StoreError) in
            ClientFile(
                ident: FileIdent(try rows.number(row, 0)),
                salt: Salt(try rows.number(row, 1)),
                owner: UserID(try rows.string(row, 2)),
                generation: try rows.number(row, 3),
                upload: UploadCursor(
                    clientVersion: ClientVersion(try rows.number(row, 4)),
                    lastIntegratedServerVersion: ServerVersion(try rows.number(row, 5))
                ),
                lockedServerVersion: ServerVersion(try rows.number(row, 6)),
                isExpired: try rows.bool(row, 7),
                sessionEpoch: try rows.number(row, 8),
                lastSeenAt: try rows.integer(row, 9),
                snapshotVersion: ServerVersion(try rows.number(row, 10))
            )
        }
    }

    /// Adds the client file, or replaces its record; both add to the bytes of its history.
    static func putting(
        _ client: ClientFile,
        in file: ServerFileID,
        addingBytes bytes: Int64
    ) -> Step {
        Step(
            """
            INSERT INTO client_file AS c
                (file_id, ident, salt, user_id, generation, client_version, recip_base_version,
                locked_server_version, is_expired, session_epoch, last_seen_at, snapshot_version,
                history_bytes)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
            ON CONFLICT (file_id, ident) DO UPDATE SET salt = excluded.salt,
                user_id = excluded.user_id, generation = excluded.generation,
                client_version = excluded.client_version,
                recip_base_version = excluded.recip_base_version,
                locked_server_version = excluded.locked_server_version,
                is_expired = excluded.is_expired, session_epoch = excluded.session_epoch,
                last_seen_at = excluded.last_seen_at,
                snapshot_version = excluded.snapshot_version,
                history_bytes = c.history_bytes + excluded.history_bytes
            """,
            [
                .integer(file.rawValue), .number(client.ident.rawValue),
                .number(client.salt.rawValue), .string(client.owner.rawValue),
                .number(client.generation), .number(client.upload.clientVersion.rawValue),
                .number(client.upload.lastIntegratedServerVersion.rawValue),
                .number(client.lockedServerVersion.rawValue), .bool(client.isExpired),
                .number(client.sessionEpoch), .integer(client.lastSeenAt),
                .number(client.snapshotVersion.rawValue), .integer(bytes),
            ]
        )
    }

    static func adding(_ bytes: Int64, to ident: FileIdent, in file: ServerFileID) -> Step {
        Step(
            """
            UPDATE client_file SET history_bytes = history_bytes + $3
            WHERE file_id = $1 AND ident = $2
            """,
            [.integer(file.rawValue), .number(ident.rawValue), .integer(bytes)]
        )
    }

    static func removal(of ident: FileIdent, in file: ServerFileID) -> Step {
        Step(
            "DELETE FROM client_file WHERE file_id = $1 AND ident = $2",
            [.integer(file.rawValue), .number(ident.rawValue)]
        )
    }

    /// Client files that no client has used, and that were made before a time.
    static func readingUnidentified(
        of app: AppID,
        seenBefore time: Int64,
        limit: Int
    ) -> Step {
        Step(
            """
            SELECT c.file_id, c.ident FROM (
                SELECT file_id FROM server_file WHERE app_id = $1 OFFSET 0
            ) f CROSS JOIN LATERAL (
                SELECT file_id, ident FROM client_file
                WHERE file_id = f.file_id AND session_epoch = 0 AND last_seen_at < $2
                OFFSET 0
            ) c
            LIMIT $3
            """,
            [.string(app.rawValue), .integer(time), .integer(Int64(max(0, limit)))]
        )
    }

    /// The usage of a user, and the file that it is asked of.
    struct ExpectedUsage {
        let usage: UserUsage
        /// Nil if there is no such file.
        let file: ServerFileID?
    }

    /// The realms and client files of a user, and whether one belongs to a file.
    static func readingUsage(of user: UserID, in file: ExpectedReads.File?) -> Step {
        guard case .partition(let app, let partition) = file else {
            var id: Int64?
            if case .id(let file) = file { id = file.rawValue }
            return Step(
                """
                SELECT count(DISTINCT file_id), count(*), coalesce(bool_or(file_id = $2), false),
                    $2
                FROM client_file WHERE user_id = $1
                """,
                [.string(user.rawValue), .integer(id)]
            )
        }
        return Step(
            """
            SELECT count(DISTINCT c.file_id), count(c.file_id),
                coalesce(bool_or(c.file_id = f.id), false), max(f.id)
            FROM (
                SELECT (SELECT file_id FROM server_file WHERE app_id = $2 AND partition = $3) AS id
            ) f
            LEFT JOIN client_file c ON c.user_id = $1
            """,
            [.string(user.rawValue), .string(app.rawValue), .string(partition.canonicalText)]
        )
    }

    static func expectedUsage(_ rows: StoredRows) throws(StoreError) -> ExpectedUsage {
        ExpectedUsage(
            usage: UserUsage(
                realms: Int(try rows.integer(0, 0)),
                clientFiles: Int(try rows.integer(0, 1)),
                isInRealm: try rows.bool(0, 2)
            ),
            file: try rows.isNull(0, 3) ? nil : ServerFileID(try rows.integer(0, 3))
        )
    }

    /// Bytes of the history that the user's client files have uploaded.
    static func readingHistorySize(of user: UserID) -> Step {
        Step(
            """
            SELECT least(coalesce(sum(history_bytes), 0), 9223372036854775807)::int8
            FROM client_file WHERE user_id = $1
            """,
            [.string(user.rawValue)]
        )
    }
}
