import PostgreSQL
import Scopes
import ServerStore
import Versions

/// The row of a server file, with the columns that `ServerFile` does not have.
struct FileRow: Hashable, Sendable {
    var file: ServerFile
    var nextIdent: UInt64
    /// Names the schema in `file_schema`; 0 for a file without one.
    var schemaVersion: Int64
    /// The app's; above the file's until the file starts over.
    var appGeneration: UInt64

    /// Starts the file over if sync was terminated meanwhile. Returns whether it did.
    mutating func catchUp(_ salts: VersionSalts) -> Bool {
        guard appGeneration > file.generation else { return false }
        file.restart(in: appGeneration, salts)
        return true
    }
}

/// The table `server_file`.
enum ServerFileRows {
    /// The row of a file, locked against all other writers of the file.
    static func locking(_ file: ServerFileID) -> Step {
        Step(
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot, schema_version,
                (SELECT generation FROM app a WHERE a.app_id = server_file.app_id)
            FROM server_file WHERE file_id = $1 FOR NO KEY UPDATE
            """,
            [.integer(file.rawValue)]
        )
    }

    static func reading(_ file: ServerFileID) -> Step {
        Step(
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot, schema_version,
                (SELECT generation FROM app a WHERE a.app_id = server_file.app_id)
            FROM server_file WHERE file_id = $1
            """,
            [.integer(file.rawValue)]
        )
    }

    static func locking(_ partition: Partition, of app: AppID) -> Step {
        Step(
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot, schema_version,
                (SELECT generation FROM app a WHERE a.app_id = server_file.app_id)
            FROM server_file WHERE app_id = $1 AND partition = $2 FOR NO KEY UPDATE
            """,
            [.string(app.rawValue), .string(partition.canonicalText)]
        )
    }

    static func reading(_ partition: Partition, of app: AppID) -> Step {
        Step(
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot, schema_version,
                (SELECT generation FROM app a WHERE a.app_id = server_file.app_id)
            FROM server_file WHERE app_id = $1 AND partition = $2
            """,
            [.string(app.rawValue), .string(partition.canonicalText)]
        )
    }

    /// All rows of an app, locked in the order that all writers of an app follow.
    static func lockingAll(of app: AppID) -> Step {
        Step(
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot, schema_version,
                (SELECT generation FROM app a WHERE a.app_id = server_file.app_id)
            FROM server_file WHERE app_id = $1 ORDER BY file_id FOR NO KEY UPDATE
            """,
            [.string(app.rawValue)]
        )
    }

    static func readingAll(of app: AppID) -> Step {
        Step(
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot, schema_version,
                (SELECT generation FROM app a WHERE a.app_id = server_file.app_id)
            FROM server_file WHERE app_id = $1 ORDER BY file_id
            """,
            [.string(app.rawValue)]
        )
    }

    /// Nil if the name of the app or the partition cannot be read.
    static func file(_ rows: StoredRows, _ row: Int) throws(StoreError) -> FileRow? {
        guard let app = AppID(try rows.string(row, 1)),
            let partition = Partition(stored: try rows.bytes(row, 2))
        else { return nil }
        let snapshot = try rows.number(row, 9)
        let file = ServerFile(
            id: ServerFileID(try rows.integer(row, 0)),
            app: app,
            partition: partition,
            currentVersion: ServerVersion(try rows.number(row, 3)),
            baseVersion: SaltedServerVersion(
                version: ServerVersion(try rows.number(row, 4)),
                salt: Salt(try rows.number(row, 5))
            ),
            generation: try rows.number(row, 6),
            historySizeInBytes: try rows.number(row, 7),
            snapshot: snapshot == 0
                ? nil
                : FileSnapshot(
                    version: ServerVersion(snapshot),
                    sizeInBytes: try rows.number(row, 10),
                    historySizeInBytes: try rows.number(row, 11)
                )
        )
        return FileRow(
            file: file,
            nextIdent: try rows.number(row, 8),
            schemaVersion: try rows.integer(row, 12),
            // A file without its app's row is not behind.
            appGeneration: try rows.isNull(row, 13) ? 0 : rows.number(row, 13)
        )
    }

    /// The only row, or nil if there is none.
    static func file(_ rows: StoredRows) throws(StoreError) -> FileRow? {
        guard !rows.isEmpty else { return nil }
        guard let file = try file(rows, 0) else {
            throw .damaged("the name of server file \(try rows.integer(0, 0))")
        }
        return file
    }

    // MARK: Writing

    /// Makes a file unless another transaction does or did.
    static func insertion(of partition: Partition, in app: AppID) -> Step {
        Step(
            """
            INSERT INTO server_file (app_id, partition, generation)
            SELECT $1, $2, coalesce((SELECT generation FROM app WHERE app_id = $1), 0)
            ON CONFLICT (app_id, partition) DO NOTHING
            """,
            [.string(app.rawValue), .string(partition.canonicalText)]
        )
    }

    static func update(_ row: FileRow) -> Step {
        let file = row.file
        return Step(
            """
            UPDATE server_file SET current_version = $2, base_version = $3, base_version_salt = $4,
                generation = $5, history_bytes = $6, next_file_ident = $7, snapshot_version = $8,
                snapshot_bytes = $9, bytes_behind_snapshot = $10, schema_version = $11
            WHERE file_id = $1
            """,
            [
                .integer(file.id.rawValue), .number(file.currentVersion.rawValue),
                .number(file.baseVersion.version.rawValue),
                .number(file.baseVersion.salt.rawValue), .number(file.generation),
                .number(file.historySizeInBytes), .number(row.nextIdent),
                .number(file.snapshot?.version.rawValue ?? 0),
                .number(file.snapshot?.sizeInBytes ?? 0),
                .number(file.snapshot?.historySizeInBytes ?? 0), .integer(row.schemaVersion),
            ]
        )
    }

    static func removal(of file: ServerFileID) -> Step {
        Step("DELETE FROM server_file WHERE file_id = $1", [.integer(file.rawValue)])
    }
}
