import SQLite
import Versions

extension SQLiteTransaction: FileWriting {
    func file(_ id: ServerFileID) throws(StoreError) -> ServerFile? {
        try file(where: "file_id = ?", [.integer(id.rawValue)])
    }

    func file(of app: AppID, _ partition: Partition) throws(StoreError) -> ServerFile? {
        try file(
            where: "app_id = ? AND partition = ?",
            [.text(app.rawValue), .text(partition.canonicalText)]
        )
    }

    private func file(
        where condition: String,
        _ values: [SQLite.Value]
    ) throws(StoreError) -> ServerFile? {
        try translating {
            let statement = try connection.statement(
                """
                SELECT file_id, current_version, base_version, base_version_salt, generation,
                    history_bytes, app_id, partition
                FROM server_file WHERE \(condition)
                """
            )
            defer { statement.reset() }
            try statement.bind(values)
            guard try statement.step() else { return nil }
            guard let app = AppID(statement.text(at: 6)),
                let partition = Partition(extendedJSON: statement.bytes(at: 7))
            else { throw damaged("the name of server file \(statement.integer(at: 0))") }
            return ServerFile(
                id: ServerFileID(statement.integer(at: 0)),
                app: app,
                partition: partition,
                currentVersion: ServerVersion(statement.number(at: 1)),
                baseVersion: SaltedServerVersion(
                    version: ServerVersion(statement.number(at: 2)),
                    salt: Salt(statement.number(at: 3))
                ),
                generation: statement.number(at: 4),
                historySizeInBytes: statement.number(at: 5)
            )
        }
    }

    func clientFile(
        _ ident: FileIdent,
        in file: ServerFileID
    ) throws(StoreError) -> ClientFile? {
        try translating {
            let statement = try connection.statement(
                """
                SELECT salt, user_id, generation, client_version, recip_base_version,
                    locked_server_version, is_expired, session_epoch, last_seen_at
                FROM client_file WHERE file_id = ? AND ident = ?
                """
            )
            defer { statement.reset() }
            try statement.bind([.integer(file.rawValue), .number(ident.rawValue)])
            guard try statement.step() else { return nil }
            return ClientFile(
                ident: ident,
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
                lastSeenAt: statement.integer(at: 8)
            )
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
        return FileIdent(UInt64(bitPattern: taken))
    }

    func put(_ client: ClientFile, in file: ServerFileID) throws(StoreError) {
        try translating {
            try connection.run(
                """
                REPLACE INTO client_file
                    (file_id, ident, salt, user_id, generation, client_version,
                    recip_base_version, locked_server_version, is_expired, session_epoch,
                    last_seen_at)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
                [
                    .integer(file.rawValue), .number(client.ident.rawValue),
                    .number(client.salt.rawValue), .text(client.owner.rawValue),
                    .number(client.generation), .number(client.upload.clientVersion.rawValue),
                    .number(client.upload.lastIntegratedServerVersion.rawValue),
                    .number(client.lockedServerVersion.rawValue),
                    .integer(client.isExpired ? 1 : 0), .number(client.sessionEpoch),
                    .integer(client.lastSeenAt),
                ]
            )
        }
    }
}
