internal import SQLite
internal import Versions

/// The tables `_realm_bootstrap` and `_realm_bootstrap_changeset`: the bootstrap that is being
/// downloaded, of which there is at most one (flexible sync, 6.1).
struct BootstrapStore {
    let connection: Connection

    /// The staged bootstrap.
    struct Header: Hashable {
        let version: QueryVersion
        /// The progress of its last message; nil until that is staged.
        let progress: SyncProgress?
    }

    /// Nil if nothing is staged.
    func header() throws(SQLiteError) -> Header? {
        let statement = try connection.statement(
            """
            SELECT query_version, latest_server_version, latest_server_version_salt,
              download_server_version, download_client_version,
              upload_client_version, upload_server_version
            FROM _realm_bootstrap WHERE id = 1
            """
        )
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        func number(_ column: Int) -> UInt64 { UInt64(clamping: statement.integer(at: column)) }
        let version = QueryVersion(number(0))
        guard (1...6).allSatisfy({ statement.storageClass(at: $0) == .integer }) else {
            return Header(version: version, progress: nil)
        }
        return Header(
            version: version,
            progress: SyncProgress(
                latestServerVersion: SaltedServerVersion(
                    version: ServerVersion(number(1)),
                    salt: Salt(number(2))
                ),
                download: DownloadCursor(
                    serverVersion: ServerVersion(number(3)),
                    lastIntegratedClientVersion: ClientVersion(number(4))
                ),
                upload: UploadCursor(
                    clientVersion: ClientVersion(number(5)),
                    lastIntegratedServerVersion: ServerVersion(number(6))
                )
            )
        )
    }

    func removeAll() throws(SQLiteError) {
        try connection.execute("DELETE FROM _realm_bootstrap_changeset")
        try connection.execute("DELETE FROM _realm_bootstrap")
    }

    /// Begins an empty bootstrap, where nothing is staged.
    func begin(_ version: QueryVersion) throws(SQLiteError) {
        try connection.run(
            "INSERT INTO _realm_bootstrap(id, query_version) VALUES (1, ?1)",
            [.integer(Int64(clamping: version.rawValue))]
        )
    }

    func append(_ changesets: [DownloadChangeset]) throws(SQLiteError) {
        for changeset in changesets {
            let statement = try connection.statement(
                """
                INSERT INTO _realm_bootstrap_changeset(remote_version,
                  last_integrated_client_version, origin_file_ident, origin_timestamp,
                  original_size, data) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                """
            )
            let numbers = [
                changeset.cursor.serverVersion.rawValue,
                changeset.cursor.lastIntegratedClientVersion.rawValue,
                changeset.originFileIdent.rawValue, changeset.originTimestamp.rawValue,
                changeset.originalSizeInBytes,
            ]
            for (index, number) in numbers.enumerated() {
                try statement.bind(Int64(clamping: number), at: index + 1)
            }
            try statement.bind(blob: changeset.bytes, at: 6)
            try statement.run()
        }
    }

    /// The last message is staged.
    func finish(_ progress: SyncProgress) throws(SQLiteError) {
        let numbers = [
            progress.latestServerVersion.version.rawValue,
            progress.latestServerVersion.salt.rawValue,
            progress.download.serverVersion.rawValue,
            progress.download.lastIntegratedClientVersion.rawValue,
            progress.upload.clientVersion.rawValue,
            progress.upload.lastIntegratedServerVersion.rawValue,
        ]
        try connection.run(
            """
            UPDATE _realm_bootstrap SET latest_server_version = ?1,
              latest_server_version_salt = ?2, download_server_version = ?3,
              download_client_version = ?4, upload_client_version = ?5, upload_server_version = ?6
            """,
            numbers.map { .integer(Int64(clamping: $0)) }
        )
    }

    /// The changesets behind a row number, until their sizes reach the limit, and at least one; empty at
    /// the end.
    func changesets(
        after row: Int64,
        limitInBytes: Int
    ) throws(SQLiteError) -> (changesets: [DownloadChangeset], last: Int64) {
        let statement = try connection.statement(
            """
            SELECT seq, remote_version, last_integrated_client_version, origin_file_ident,
              origin_timestamp, original_size, data
            FROM _realm_bootstrap_changeset WHERE seq > ?1 ORDER BY seq
            """
        )
        defer { statement.reset() }
        try statement.bind(row, at: 1)
        var (changesets, last, size): ([DownloadChangeset], Int64, Int) = ([], row, 0)
        while size < limitInBytes, try statement.step() {
            func number(_ column: Int) -> UInt64 { UInt64(clamping: statement.integer(at: column)) }
            let bytes = statement.bytes(at: 6)
            last = statement.integer(at: 0)
            // An empty one costs more than nothing.
            size += max(bytes.count, 256)
            changesets.append(
                DownloadChangeset(
                    cursor: DownloadCursor(
                        serverVersion: ServerVersion(number(1)),
                        lastIntegratedClientVersion: ClientVersion(number(2))
                    ),
                    originTimestamp: OriginTimestamp(stored: statement.integer(at: 4)),
                    originFileIdent: FileIdent(number(3)),
                    originalSizeInBytes: number(5),
                    bytes: bytes
                )
            )
        }
        return (changesets, last)
    }
}
