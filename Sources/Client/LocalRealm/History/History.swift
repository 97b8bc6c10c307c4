internal import SQLite
internal import Versions

/// The table `_realm_history`: local changesets until the server's downloads are based on them
/// (sync history, 2.2).
///
/// Versions without a row are skippable: empty, or integrations of server changes.
struct History {
    let connection: Connection

    /// Appends the changeset of a local version (sync history, 3.2).
    func append(
        _ version: ClientVersion,
        originTimestamp: OriginTimestamp,
        remoteVersion: ServerVersion,
        changeset: [UInt8]
    ) throws(SQLiteError) {
        try connection.run(
            """
            INSERT INTO _realm_history(version, origin_file_ident, origin_timestamp, remote_version,
              size, changeset) VALUES (?1, 0, ?2, ?3, ?4, ?5)
            """,
            [
                .integer(Int64(clamping: version.rawValue)),
                .integer(Int64(clamping: originTimestamp.rawValue)),
                .integer(Int64(clamping: remoteVersion.rawValue)),
                .integer(Int64(changeset.count)),
                .blob(changeset),
            ]
        )
    }

    /// The first local changeset above a version, up to which versions can be skipped.
    func firstLocalVersion(after version: ClientVersion) throws(SQLiteError) -> ClientVersion? {
        try connection.integer(
            """
            SELECT version FROM _realm_history
            WHERE version > ?1 AND origin_file_ident = 0 AND length(changeset) > 0 ORDER BY version LIMIT 1
            """,
            [.integer(Int64(clamping: version.rawValue))]
        ).map { ClientVersion(UInt64(clamping: $0)) }
    }

    /// Number and bytes of the local changesets with a version above the first and up to the second.
    func localAmount(
        after first: ClientVersion,
        through last: ClientVersion
    ) throws(SQLiteError) -> (changesets: Int, bytes: UInt64) {
        let statement = try connection.statement(
            """
            SELECT count(*), coalesce(sum(length(changeset)), 0) FROM _realm_history
            WHERE version > ?1 AND version <= ?2 AND origin_file_ident = 0 AND length(changeset) > 0
            """
        )
        defer { statement.reset() }
        try statement.bind(Int64(clamping: first.rawValue), at: 1)
        try statement.bind(Int64(clamping: last.rawValue), at: 2)
        guard try statement.step() else { return (0, 0) }
        return (Int(statement.integer(at: 0)), UInt64(clamping: statement.integer(at: 1)))
    }

    func remove(through version: ClientVersion) throws(SQLiteError) {
        try connection.run(
            "DELETE FROM _realm_history WHERE version <= ?1",
            [.integer(Int64(clamping: version.rawValue))]
        )
    }
}
