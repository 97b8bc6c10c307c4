import SQLite
import ServerStore
import Versions

extension SQLiteHistoryTransaction {
    func salt(of version: ServerVersion, in file: ServerFileID) throws(StoreError) -> Salt? {
        let salt = try translating {
            try connection.integer(
                "SELECT version_salt FROM history WHERE file_id = ? AND version = ?",
                [.integer(file.rawValue), .number(version.rawValue)]
            )
        }
        return salt.map { Salt(UInt64(bitPattern: $0)) }
    }

    func forEachEntry(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent,
        _ visit: (HistoryEntry) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try translating {
            let statement = try connection.statement(
                """
                SELECT version, version_salt, origin_file_ident, client_version,
                    origin_timestamp, cumulative_bytes,
                    CASE origin_file_ident WHEN ?3 THEN NULL ELSE changeset END, private_to
                FROM history
                WHERE file_id = ?1 AND version > ?2 AND private_to IN (0, ?3)
                ORDER BY version
                """
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(version.rawValue), .number(reader.rawValue),
            ])
            while try statement.step() {
                if try visit(Self.entry(statement)) == .stop { return }
            }
        }
    }

    func compensatingEntries(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> [HistoryEntry] {
        try translating {
            let statement = try connection.statement(
                """
                SELECT version, version_salt, origin_file_ident, client_version,
                    origin_timestamp, cumulative_bytes, changeset, private_to
                FROM history
                WHERE file_id = ?1 AND private_to = ?3 AND private_to <> 0 AND version > ?2
                    AND client_version <> 0
                ORDER BY version
                """
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(version.rawValue), .number(client.rawValue),
            ])
            var entries: [HistoryEntry] = []
            while try statement.step() { entries.append(Self.entry(statement)) }
            return entries
        }
    }

    func privateSizeInBytes(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) throws(StoreError) -> UInt64 {
        let size = try translating {
            try connection.integer(
                """
                SELECT coalesce(sum(length(changeset)), 0) FROM history
                WHERE file_id = ? AND private_to = ? AND private_to <> 0 AND version > ?
                """,
                [.integer(file.rawValue), .number(client.rawValue), .number(version.rawValue)]
            )
        }
        return UInt64(clamping: size ?? 0)
    }

    private static func entry(_ row: Statement) -> HistoryEntry {
        HistoryEntry(
            version: SaltedServerVersion(
                version: ServerVersion(row.number(at: 0)),
                salt: Salt(row.number(at: 1))
            ),
            origin: FileIdent(row.number(at: 2)),
            clientVersion: ClientVersion(row.number(at: 3)),
            timestamp: OriginTimestamp(row.number(at: 4)),
            changeset: row.bytes(at: 6),
            cumulativeSizeInBytes: row.number(at: 5),
            recipient: row.number(at: 7) == 0 ? nil : FileIdent(row.number(at: 7))
        )
    }

    func forEachChangeset(
        of file: ServerFileID,
        in snapshot: ServerVersion,
        after version: ServerVersion,
        _ visit: (ServerVersion, [UInt8]) throws(StoreError) -> Visit
    ) throws(StoreError) {
        try translating {
            let isHistory = snapshot == .zero
            let statement = try connection.statement(
                isHistory
                    ? """
                    SELECT version, changeset FROM history
                    WHERE file_id = ?1 AND version > ?2 ORDER BY version
                    """
                    : """
                    SELECT version, changeset FROM snapshot
                    WHERE file_id = ?1 AND version > ?2 AND snapshot_version = ?3 ORDER BY version
                    """
            )
            defer { statement.reset() }
            let values: [SQLiteValue] = [.integer(file.rawValue), .number(version.rawValue)]
            try statement.bind(isHistory ? values : values + [.number(snapshot.rawValue)])
            while try statement.step() {
                let number = ServerVersion(statement.number(at: 0))
                if try visit(number, statement.bytes(at: 1)) == .stop { return }
            }
        }
    }

    func historySize(
        of file: ServerFile,
        after version: ServerVersion
    ) throws(StoreError) -> UInt64 {
        let end = try translating {
            // Up to, but not including, the first entry after it.
            try connection.integer(
                """
                SELECT cumulative_bytes - length(changeset) FROM history
                WHERE file_id = ? AND version > ? ORDER BY version LIMIT 1
                """,
                [.integer(file.id.rawValue), .number(version.rawValue)]
            )
        }
        guard let end else { return 0 }
        let before = UInt64(bitPattern: end)
        return file.historySizeInBytes >= before ? file.historySizeInBytes - before : 0
    }

    func sizeOfOthers(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent,
        limit: UInt64
    ) throws(StoreError) -> UInt64 {
        try translating {
            // The length of a blob is in the row's header: SQLite does not read its pages.
            let statement = try connection.statement(
                """
                SELECT length(changeset) FROM history
                WHERE file_id = ?1 AND version > ?2 AND private_to IN (0, ?3)
                    AND origin_file_ident <> ?3
                ORDER BY version
                """
            )
            defer { statement.reset() }
            try statement.bind([
                .integer(file.rawValue), .number(version.rawValue), .number(client.rawValue),
            ])
            var size: UInt64 = 0
            while size <= limit, try statement.step() { size += statement.number(at: 0) }
            return size
        }
    }

    func append(_ entries: [HistoryEntry], to file: ServerFileID) throws(StoreError) {
        guard let last = entries.last else { return }
        try translating {
            let statement = try connection.statement(
                """
                INSERT INTO history
                    (file_id, version, version_salt, origin_file_ident, client_version,
                    origin_timestamp, cumulative_bytes, changeset, private_to)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
            )
            var sizes: [FileIdent: Int64] = [:]
            for entry in entries {
                try statement.bind([
                    .integer(file.rawValue), .number(entry.version.version.rawValue),
                    .number(entry.version.salt.rawValue), .number(entry.origin.rawValue),
                    .number(entry.clientVersion.rawValue), .number(entry.timestamp.rawValue),
                    .number(entry.cumulativeSizeInBytes), .blob(entry.changeset),
                    .number(entry.recipient?.rawValue ?? 0),
                ])
                try statement.run()
                if entry.origin != .none {
                    sizes[entry.origin, default: 0] += Int64(entry.changeset.count)
                }
            }
            try connection.run(
                "UPDATE server_file SET current_version = ?, history_bytes = ? WHERE file_id = ?",
                [
                    .number(last.version.version.rawValue), .number(last.cumulativeSizeInBytes),
                    .integer(file.rawValue),
                ]
            )
            for (client, size) in sizes {
                try connection.run(
                    """
                    UPDATE client_file SET history_bytes = history_bytes + ?
                    WHERE file_id = ? AND ident = ?
                    """,
                    [.integer(size), .integer(file.rawValue), .number(client.rawValue)]
                )
            }
        }
    }
}
