import SQLite
import ServerStore
import Versions

/// The usage of users, and unused files.
extension SQLiteFileTransaction {
    func usage(of user: UserID, in file: ServerFileID?) throws(StoreError) -> UserUsage {
        try translating {
            let row = try connection.row(
                """
                SELECT count(DISTINCT file_id), count(*), coalesce(max(file_id = ?2), 0)
                FROM client_file WHERE user_id = ?1
                """,
                [.text(user.rawValue), file.map { .integer($0.rawValue) } ?? .null]
            )
            guard let row, case .integer(let realms) = row[0], case .integer(let files) = row[1],
                case .integer(let isMember) = row[2]
            else { return UserUsage() }
            return UserUsage(
                realms: Int(realms),
                clientFiles: Int(files),
                isInRealm: isMember != 0
            )
        }
    }

    func historySize(of user: UserID) throws(StoreError) -> Int64 {
        try translating {
            // A total, unlike a sum, has no overflow.
            try connection.integer(
                "SELECT CAST(total(history_bytes) AS INTEGER) FROM client_file WHERE user_id = ?",
                [.text(user.rawValue)]
            ) ?? 0
        }
    }

    func unidentifiedClientFiles(
        of app: AppID,
        seenBefore time: Int64,
        limit: Int
    ) throws(StoreError) -> [ClientFileID] {
        try translating {
            let statement = try connection.statement(
                """
                SELECT file_id, ident FROM client_file JOIN server_file USING (file_id)
                WHERE session_epoch = 0 AND last_seen_at < ?2 AND app_id = ?1
                LIMIT ?3
                """
            )
            defer { statement.reset() }
            try statement.bind([.text(app.rawValue), .integer(time), .integer(Int64(limit))])
            var files: [ClientFileID] = []
            while try statement.step() {
                files.append(
                    ClientFileID(
                        file: ServerFileID(statement.integer(at: 0)),
                        ident: FileIdent(statement.number(at: 1))
                    )
                )
            }
            return files
        }
    }

    /// A condition on a row of `server_file`, named `file`; ?1 is the time.
    private static let isEmpty = """
        base_version = 0
        AND NOT EXISTS (SELECT 1 FROM client_file
            WHERE client_file.file_id = file.file_id
                AND (?1 IS NULL OR last_seen_at >= ?1 OR client_version > 0))
        AND NOT EXISTS (SELECT 1 FROM history
            WHERE history.file_id = file.file_id AND origin_file_ident <> 0)
        AND NOT EXISTS (SELECT 1 FROM object WHERE object.file_id = file.file_id)
        """

    func emptyFiles(
        of app: AppID,
        seenBefore time: Int64?,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID] {
        let rows = try translating {
            try connection.rows(
                """
                SELECT file_id FROM server_file AS file
                WHERE app_id = ?2 AND file_id > ?3 AND \(Self.isEmpty)
                ORDER BY file_id LIMIT ?4
                """,
                [
                    time.map { .integer($0) } ?? .null, .text(app.rawValue),
                    .integer(file?.rawValue ?? Int64.min), .integer(Int64(limit)),
                ]
            )
        }
        return rows.compactMap { row in
            guard case .integer(let id) = row[0] else { return nil }
            return ServerFileID(id)
        }
    }

    func removeIfEmpty(_ file: ServerFileID, seenBefore time: Int64?) throws(StoreError) {
        let isEmpty = try translating {
            try connection.integer(
                "SELECT 1 FROM server_file AS file WHERE file_id = ?2 AND \(Self.isEmpty)",
                [time.map { .integer($0) } ?? .null, .integer(file.rawValue)]
            ) != nil
        }
        if isEmpty { try remove(file) }
    }
}
