import Logging
import SQLite
import Scopes
import ServerStore
import Versions

extension SQLiteFileTransaction {
    func file(_ id: ServerFileID) throws(StoreError) -> ServerFile? {
        try file(where: "file_id = ?", [.integer(id.rawValue)])
    }

    func file(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile? {
        try file(
            where: "app_id = ? AND partition = ?",
            [.text(app.rawValue), .text(partition.canonicalText)]
        )
    }

    /// A row without a readable name is left out and logged: it must not hide the others.
    func files(of app: AppID) throws(StoreError) -> [ServerFile] {
        try files(where: "app_id = ? ORDER BY file_id", [.text(app.rawValue)]) { id, name in
            logger.error(
                "a realm was skipped",
                metadata: [
                    "code": "store.unusable", "app": "\(app)", "file": "\(id.rawValue)",
                    "partition": "\(Self.excerpt(of: name))",
                    "reason": "its partition cannot be read",
                ]
            )
        }
    }

    /// The beginning of a name of any bytes, for the log.
    static func excerpt(of name: [UInt8]) -> String {
        String(decoding: name.prefix(64), as: UTF8.self)
    }

    private func file(
        where condition: String,
        _ values: [SQLiteValue]
    ) throws(StoreError) -> ServerFile? {
        try files(where: condition, values) { id, _ throws(StoreError) in
            throw damaged("the name of server file \(id.rawValue)")
        }.first
    }

    private func files(
        where condition: String,
        _ values: [SQLiteValue],
        unreadable: (ServerFileID, [UInt8]) throws(StoreError) -> Void
    ) throws(StoreError) -> [ServerFile] {
        try translating {
            let statement = try connection.statement(
                """
                SELECT file_id, current_version, base_version, base_version_salt, generation,
                    history_bytes, app_id, partition, snapshot_version, snapshot_bytes,
                    bytes_behind_snapshot
                FROM server_file WHERE \(condition)
                """
            )
            defer { statement.reset() }
            try statement.bind(values)
            var files: [ServerFile] = []
            while try statement.step() {
                if let file = Self.serverFile(statement) {
                    files.append(file)
                } else {
                    try unreadable(ServerFileID(statement.integer(at: 0)), statement.bytes(at: 7))
                }
            }
            return files
        }
    }

    /// Nil if its partition cannot be read.
    private static func serverFile(_ row: Statement) -> ServerFile? {
        guard let app = AppID(row.text(at: 6)), let partition = Partition(stored: row.bytes(at: 7))
        else { return nil }
        return ServerFile(
            id: ServerFileID(row.integer(at: 0)),
            app: app,
            partition: partition,
            currentVersion: ServerVersion(row.number(at: 1)),
            baseVersion: SaltedServerVersion(
                version: ServerVersion(row.number(at: 2)),
                salt: Salt(row.number(at: 3))
            ),
            generation: row.number(at: 4),
            historySizeInBytes: row.number(at: 5),
            snapshot: row.number(at: 8) == 0
                ? nil
                : FileSnapshot(
                    version: ServerVersion(row.number(at: 8)),
                    sizeInBytes: row.number(at: 9),
                    historySizeInBytes: row.number(at: 10)
                )
        )
    }

    func clientFile(
        _ ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> ClientFile? {
        try clientFiles(where: "AND ident = ?", file, [.number(ident.rawValue)]).first
    }

    func clientFiles(in file: ServerFileID) throws(StoreError) -> [ClientFile] {
        try clientFiles(where: "ORDER BY ident", file, [])
    }

    private func clientFiles(
        where condition: String,
        _ file: ServerFileID,
        _ values: [SQLiteValue]
    ) throws(StoreError) -> [ClientFile] {
        try translating {
            let statement = try connection.statement(
                """
                SELECT salt, user_id, generation, client_version, recip_base_version,
                    locked_server_version, is_expired, session_epoch, last_seen_at, ident,
                    snapshot_version
                FROM client_file WHERE file_id = ? \(condition)
                """
            )
            defer { statement.reset() }
            try statement.bind([.integer(file.rawValue)] + values)
            var clients: [ClientFile] = []
            while try statement.step() {
                clients.append(Self.clientFile(statement))
            }
            return clients
        }
    }

    private static func clientFile(_ statement: Statement) -> ClientFile {
        ClientFile(
            ident: FileIdent(statement.number(at: 9)),
            salt: Salt(statement.number(at: 0)),
            owner: UserID(statement.text(at: 1)),
            generation: statement.number(at: 2),
            upload: UploadCursor(
                clientVersion: ClientVersion(statement.number(at: 3)),
                lastIntegratedServerVersion: ServerVersion(statement.number(at: 4))
            ),
            lockedServerVersion: ServerVersion(statement.number(at: 5)),
            isExpired: statement.integer(at: 6) != 0,
            sessionEpoch: statement.number(at: 7),
            lastSeenAt: statement.integer(at: 8),
            snapshotVersion: ServerVersion(statement.number(at: 10))
        )
    }

    func update(_ file: ServerFile) throws(StoreError) {
        try translating {
            try connection.run(
                """
                UPDATE server_file SET current_version = ?, base_version = ?,
                    base_version_salt = ?, generation = ?, history_bytes = ?,
                    snapshot_version = ?, snapshot_bytes = ?, bytes_behind_snapshot = ?
                WHERE file_id = ?
                """,
                [
                    .number(file.currentVersion.rawValue),
                    .number(file.baseVersion.version.rawValue),
                    .number(file.baseVersion.salt.rawValue), .number(file.generation),
                    .number(file.historySizeInBytes),
                    .number(file.snapshot?.version.rawValue ?? 0),
                    .number(file.snapshot?.sizeInBytes ?? 0),
                    .number(file.snapshot?.historySizeInBytes ?? 0), .integer(file.id.rawValue),
                ]
            )
        }
    }

    /// At once: there is one process, and its file is local.
    func beginGeneration(of app: AppID) throws(StoreError) {
        for var file in try files(of: app) {
            try removeHistory(of: file.id)
            file.restart(in: file.generation &+ 1, versionSalts)
            try update(file)
        }
    }

    func filesWithRemains(
        of app: AppID,
        after file: ServerFileID?,
        limit: Int
    ) throws(StoreError) -> [ServerFileID] { [] }

    func removeRemains(of file: ServerFileID) throws(StoreError) -> Bool { false }

    private func removeHistory(of file: ServerFileID) throws(StoreError) {
        try translating {
            try connection.run(
                "UPDATE client_file SET history_bytes = 0 WHERE file_id = ?",
                [.integer(file.rawValue)]
            )
            let tables = ["history", "reciprocal", "snapshot", "touched_object"]
            for table in tables + Self.clientViewTables {
                try connection.run(
                    "DELETE FROM \(table) WHERE file_id = ?",
                    [.integer(file.rawValue)]
                )
            }
        }
    }

    /// Removes a server file with all its records.
    func remove(_ file: ServerFileID) throws(StoreError) {
        let tables = [
            "history", "client_file", "reciprocal", "snapshot", "object", "touched_object",
            "server_file",
        ]
        try translating {
            for table in tables + Self.clientViewTables {
                try connection.run(
                    "DELETE FROM \(table) WHERE file_id = ?",
                    [.integer(file.rawValue)]
                )
            }
        }
    }

    func makeFile(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile {
        if let file = try file(of: app, partition) { return file }
        try translating {
            try connection.run(
                "INSERT INTO server_file (app_id, partition) VALUES (?, ?)",
                [.text(app.rawValue), .text(partition.canonicalText)]
            )
        }
        let id = ServerFileID(connection.lastInsertedRowID)
        return ServerFile(id: id, app: app, partition: partition)
    }

    func takeFileIdent(in file: ServerFileID) throws(StoreError) -> FileIdent {
        let taken = try translating {
            try connection.integer(
                """
                UPDATE server_file SET next_file_ident = next_file_ident + 1 WHERE file_id = ?
                RETURNING next_file_ident - 1
                """,
                [.integer(file.rawValue)]
            )
        }
        guard let taken else { throw damaged("server file \(file.rawValue) is missing") }
        return FileIdent(UInt64(clamping: taken))
    }

    func removeClientFile(_ ident: FileIdent, in file: ServerFileID) throws(StoreError) {
        try translating {
            for table in ["client_file", "reciprocal"] + Self.clientViewTables {
                try connection.run(
                    "DELETE FROM \(table) WHERE file_id = ? AND ident = ?",
                    [.integer(file.rawValue), .number(ident.rawValue)]
                )
            }
        }
    }

    func put(_ client: ClientFile, in file: ServerFileID) throws(StoreError) {
        try StorableName.check(client.owner.rawValue)
        try translating {
            try connection.run(
                """
                INSERT INTO client_file
                    (file_id, ident, salt, user_id, generation, client_version,
                    recip_base_version, locked_server_version, is_expired, session_epoch,
                    last_seen_at, snapshot_version)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT (file_id, ident) DO UPDATE SET salt = excluded.salt,
                    user_id = excluded.user_id, generation = excluded.generation,
                    client_version = excluded.client_version,
                    recip_base_version = excluded.recip_base_version,
                    locked_server_version = excluded.locked_server_version,
                    is_expired = excluded.is_expired, session_epoch = excluded.session_epoch,
                    last_seen_at = excluded.last_seen_at,
                    snapshot_version = excluded.snapshot_version
                """,
                [
                    .integer(file.rawValue), .number(client.ident.rawValue),
                    .number(client.salt.rawValue), .text(client.owner.rawValue),
                    .number(client.generation), .number(client.upload.clientVersion.rawValue),
                    .number(client.upload.lastIntegratedServerVersion.rawValue),
                    .number(client.lockedServerVersion.rawValue),
                    .integer(client.isExpired ? 1 : 0), .number(client.sessionEpoch),
                    .integer(client.lastSeenAt), .number(client.snapshotVersion.rawValue),
                ]
            )
        }
    }
}
