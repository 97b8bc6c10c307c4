internal import SQLite
internal import Versions

extension History {
    /// A scan stops after this many bytes of changesets (sync history, 6.1).
    static let softLimitInBytes = 131_072
    /// No batch is larger, unless a single changeset is.
    static let hardLimitInBytes = 16_777_216

    /// The local changesets above a cursor and up to a version, in their original form.
    ///
    /// `integrated` is the server version that the realm itself has reached: the progress rises to it
    /// once the scan has passed the newest version, since every integration lies below that. Below the
    /// newest version only local changesets tell theirs: the progress stays at the last one.
    ///
    /// - Parameter history: nil if it has no local changeset.
    static func scanUploads(
        _ history: History?,
        from cursor: UploadCursor,
        through end: ClientVersion,
        base: ClientVersion,
        newest: ClientVersion,
        integrated: ServerVersion
    ) throws(SQLiteError) -> UploadBatch {
        let end = min(max(end, base), max(newest, base))
        var reached = max(cursor.clientVersion, base)
        var serverVersion = cursor.lastIntegratedServerVersion
        var sizeInBytes = 0
        var isThrough = false
        var changesets: [UploadChangeset] = []

        let statement = try history?.connection.statement(localEntries)
        defer { statement?.reset() }
        try statement?.bind(Int64(clamping: reached.rawValue), at: 1)
        try statement?.bind(Int64(clamping: end.rawValue), at: 2)
        while sizeInBytes < softLimitInBytes {
            guard let statement, try statement.step() else {
                if reached < end { reached = end }
                isThrough = reached >= newest
                if isThrough { serverVersion = max(serverVersion, integrated) }
                break
            }
            let size = Int(statement.integer(at: 3))
            if sizeInBytes + size >= hardLimitInBytes, !changesets.isEmpty { break }
            sizeInBytes += size
            reached = ClientVersion(UInt64(clamping: statement.integer(at: 0)))
            serverVersion = ServerVersion(UInt64(clamping: statement.integer(at: 2)))
            changesets.append(
                UploadChangeset(
                    cursor: UploadCursor(
                        clientVersion: reached,
                        lastIntegratedServerVersion: serverVersion
                    ),
                    originTimestamp: OriginTimestamp(stored: statement.integer(at: 1)),
                    originFileIdent: .none,
                    bytes: statement.bytes(at: 4)
                )
            )
        }
        let position = UploadCursor(
            clientVersion: reached,
            lastIntegratedServerVersion: serverVersion
        )
        return UploadBatch(
            changesets: changesets,
            progress: isThrough ? position : changesets.last?.cursor ?? cursor,
            reached: position,
            lockedServerVersion: integrated
        )
    }

    private static let localEntries = """
        SELECT version, origin_timestamp, remote_version, length(changeset), changeset FROM _realm_history
        WHERE version > ?1 AND version <= ?2 AND origin_file_ident = 0 AND length(changeset) > 0
        ORDER BY version
        """
}
