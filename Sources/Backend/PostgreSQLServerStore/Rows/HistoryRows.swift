import Changesets
import PostgreSQL
import ServerStore
import Versions

/// The table `history`.
enum HistoryRows {
    /// The versions that one page spans, and about the bytes of its changesets.
    static let versionsAtOnce: Int64 = 1024
    static let bytesAtOnce: Int64 = 1 << 20
    /// The size of one statement that writes.
    private static let rowsWrittenAtOnce = 10_000
    private static let bytesWrittenAtOnce = 16 << 20

    static func readingSalt(of version: ServerVersion, in file: ServerFileID) -> Step {
        Step(
            "SELECT version_salt FROM history WHERE file_id = $1 AND version = $2",
            [.integer(file.rawValue), .number(version.rawValue)]
        )
    }

    /// The salt of the file's newest version, with the version.
    static func readingNewestSalt(in file: ServerFileID) -> Step {
        Step(
            """
            SELECT h.version, h.version_salt FROM server_file f
            JOIN history h ON h.file_id = f.file_id AND h.version = f.current_version
            WHERE f.file_id = $1
            """,
            [.integer(file.rawValue)]
        )
    }

    /// The next entries, also those for other clients; without changesets that the reader does not get.
    static func readingPage(
        of file: ServerFileID,
        after version: ServerVersion,
        readBy reader: FileIdent
    ) -> Step {
        Step(
            """
            SELECT h.* FROM (
                SELECT version, cumulative_bytes - octet_length(changeset) AS bytes FROM history
                WHERE file_id = $1 AND version > $2 ORDER BY version LIMIT 1
            ) f CROSS JOIN LATERAL (
                SELECT version, version_salt, origin_file_ident, client_version, origin_timestamp,
                    cumulative_bytes, private_to, CASE
                        WHEN origin_file_ident <> $3 AND private_to IN (0, $3) THEN changeset
                    END
                FROM history
                WHERE file_id = $1 AND version >= f.version AND version < f.version + $4
                    AND cumulative_bytes - octet_length(changeset) <= f.bytes + $5
                ORDER BY version OFFSET 0
            ) h
            """,
            [
                .integer(file.rawValue), .number(version.rawValue), .number(reader.rawValue),
                .integer(versionsAtOnce), .integer(bytesAtOnce),
            ]
        )
    }

    /// The next entries with all changesets, for several readers.
    static func readingWholePage(of file: ServerFileID, after version: ServerVersion) -> Step {
        Step(
            """
            SELECT h.* FROM (
                SELECT version, cumulative_bytes - octet_length(changeset) AS bytes FROM history
                WHERE file_id = $1 AND version > $2 ORDER BY version LIMIT 1
            ) f CROSS JOIN LATERAL (
                SELECT version, version_salt, origin_file_ident, client_version, origin_timestamp,
                    cumulative_bytes, private_to, changeset
                FROM history
                WHERE file_id = $1 AND version >= f.version AND version < f.version + $3
                    AND cumulative_bytes - octet_length(changeset) <= f.bytes + $4
                ORDER BY version OFFSET 0
            ) h
            """,
            [
                .integer(file.rawValue), .number(version.rawValue), .integer(versionsAtOnce),
                .integer(bytesAtOnce),
            ]
        )
    }

    /// The next changesets of every origin and for every recipient.
    static func readingChangesets(of file: ServerFileID, after version: ServerVersion) -> Step {
        Step(
            """
            SELECT h.* FROM (
                SELECT version, cumulative_bytes - octet_length(changeset) AS bytes FROM history
                WHERE file_id = $1 AND version > $2 ORDER BY version LIMIT 1
            ) f CROSS JOIN LATERAL (
                SELECT version, changeset FROM history
                WHERE file_id = $1 AND version >= f.version AND version < f.version + $3
                    AND cumulative_bytes - octet_length(changeset) <= f.bytes + $4
                ORDER BY version OFFSET 0
            ) h
            """,
            [
                .integer(file.rawValue), .number(version.rawValue), .integer(versionsAtOnce),
                .integer(bytesAtOnce),
            ]
        )
    }

    static func entry(_ rows: StoredRows, _ row: Int) throws(StoreError) -> HistoryEntry {
        let recipient = try rows.number(row, 6)
        return HistoryEntry(
            version: SaltedServerVersion(
                version: ServerVersion(try rows.number(row, 0)),
                salt: Salt(try rows.number(row, 1))
            ),
            origin: FileIdent(try rows.number(row, 2)),
            clientVersion: ClientVersion(try rows.number(row, 3)),
            timestamp: OriginTimestamp(try rows.number(row, 4)),
            changeset: try rows.optionalBytes(row, 7) ?? [],
            cumulativeSizeInBytes: try rows.number(row, 5),
            recipient: recipient == 0 ? nil : FileIdent(recipient)
        )
    }

    static func entries(_ rows: StoredRows) throws(StoreError) -> [HistoryEntry] {
        try rows.map { row throws(StoreError) in try entry(rows, row) }
    }

    /// The entries of some versions, up to about a MiB of them, in their order. Without changesets that
    /// the reader does not get.
    static func reading(
        _ versions: ArraySlice<ServerVersion>,
        of file: ServerFileID,
        readBy reader: FileIdent
    ) -> Step {
        Step(
            """
            SELECT h.* FROM (
                SELECT s.version, sum(s.bytes) OVER (ORDER BY s.version) - s.bytes AS before
                FROM unnest($2::int8[]) u(version) CROSS JOIN LATERAL (
                    SELECT version, CASE
                        WHEN origin_file_ident <> $3 AND private_to IN (0, $3)
                        THEN octet_length(changeset) ELSE 0 END AS bytes
                    FROM history WHERE file_id = $1 AND version = u.version OFFSET 0
                ) s
            ) p CROSS JOIN LATERAL (
                SELECT version, version_salt, origin_file_ident, client_version, origin_timestamp,
                    cumulative_bytes, private_to, CASE
                        WHEN origin_file_ident <> $3 AND private_to IN (0, $3) THEN changeset
                    END
                FROM history WHERE file_id = $1 AND version = p.version OFFSET 0
            ) h
            WHERE p.before <= $4 ORDER BY h.version
            """,
            [
                .integer(file.rawValue),
                .integers(versions.map { Int64(clamping: $0.rawValue) }),
                .number(reader.rawValue), .integer(bytesAtOnce),
            ]
        )
    }

    /// The next entries that only that client gets and that compensate its own writes.
    static func readingCompensating(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) -> Step {
        Step(
            """
            SELECT version, version_salt, origin_file_ident, client_version, origin_timestamp,
                cumulative_bytes, private_to, changeset
            FROM history
            WHERE file_id = $1 AND private_to = $3 AND private_to <> 0 AND version > $2
                AND client_version <> 0
            ORDER BY version LIMIT 1024
            """,
            [.integer(file.rawValue), .number(version.rawValue), .number(client.rawValue)]
        )
    }

    static func readingPrivateSize(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) -> Step {
        Step(
            """
            SELECT coalesce(sum(octet_length(changeset)), 0)::int8 FROM history
            WHERE file_id = $1 AND private_to = $3 AND private_to <> 0 AND version > $2
            """,
            [.integer(file.rawValue), .number(version.rawValue), .number(client.rawValue)]
        )
    }

    /// The size of the history before the first entry after a version.
    static func readingSizeBefore(
        of file: ServerFileID,
        after version: ServerVersion
    ) -> Step {
        Step(
            """
            SELECT cumulative_bytes - octet_length(changeset) FROM history
            WHERE file_id = $1 AND version > $2 ORDER BY version LIMIT 1
            """,
            [.integer(file.rawValue), .number(version.rawValue)]
        )
    }

    /// The sizes of the next entries, without reading them: version, bytes, and whether the client
    /// gets it.
    static func readingSizes(
        of file: ServerFileID,
        after version: ServerVersion,
        for client: FileIdent
    ) -> Step {
        Step(
            """
            SELECT version, octet_length(changeset),
                private_to IN (0, $3) AND origin_file_ident <> $3
            FROM history WHERE file_id = $1 AND version > $2 ORDER BY version LIMIT 8192
            """,
            [.integer(file.rawValue), .number(version.rawValue), .number(client.rawValue)]
        )
    }

    // MARK: Writing

    static func insertion(of entries: [HistoryEntry], in file: ServerFileID) -> [Step] {
        var steps: [Step] = []
        var start = entries.startIndex
        while start < entries.endIndex {
            var end = start
            var size = 0
            repeat {
                size += entries[end].changeset.count
                end += 1
            } while end < entries.endIndex && end - start < rowsWrittenAtOnce
                && size + entries[end].changeset.count <= bytesWrittenAtOnce
            steps.append(insertion(of: entries[start..<end], in: file))
            start = end
        }
        return steps
    }

    private static func insertion(
        of entries: ArraySlice<HistoryEntry>,
        in file: ServerFileID
    ) -> Step {
        func numbers(_ value: (HistoryEntry) -> UInt64) -> Value {
            .integers(entries.map { Int64(clamping: value($0)) })
        }
        return Step(
            """
            INSERT INTO history (file_id, version, version_salt, origin_file_ident, client_version,
                origin_timestamp, cumulative_bytes, private_to, changeset)
            SELECT $1, u.* FROM unnest($2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[],
                $7::int8[], $8::int8[], $9::bytea[]) u
            """,
            [
                .integer(file.rawValue),
                numbers { $0.version.version.rawValue }, numbers { $0.version.salt.rawValue },
                numbers { $0.origin.rawValue }, numbers { $0.clientVersion.rawValue },
                numbers { $0.timestamp.rawValue }, numbers { $0.cumulativeSizeInBytes },
                numbers { $0.recipient?.rawValue ?? 0 },
                .byteStrings(entries.map(\.changeset)),
            ]
        )
    }

    /// Takes the sizes of entries that are to be trimmed off their clients' history.
    static func discount(of file: ServerFileID, upTo version: ServerVersion) -> Step {
        Step(
            """
            UPDATE client_file c SET history_bytes = greatest(0, c.history_bytes - t.bytes)
            FROM (
                SELECT origin_file_ident AS ident, sum(octet_length(changeset))::int8 AS bytes
                FROM history WHERE file_id = $1 AND version <= $2 AND origin_file_ident <> 0
                GROUP BY origin_file_ident
            ) t
            WHERE c.file_id = $1 AND c.ident = t.ident
            """,
            [.integer(file.rawValue), .number(version.rawValue)]
        )
    }

    /// Removes the oldest entries up to a version, a portion at a time.
    static func removal(of file: ServerFileID, upTo version: ServerVersion) -> Step {
        Step(
            """
            DELETE FROM history WHERE file_id = $1 AND version <= least($2, (
                SELECT version FROM history WHERE file_id = $1 ORDER BY version
                OFFSET 9999 LIMIT 1))
            """,
            [.integer(file.rawValue), .number(version.rawValue)]
        )
    }
}
