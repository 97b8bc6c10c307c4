internal import SQLite
import Scopes
internal import Versions

/// The singleton row `_realm_state`, as stored in the file (sync history, 2.1).
struct RealmStateRow: Hashable {
    var instance: [UInt8]
    var home: String
    var owner: RealmOwner
    var localVersion = ClientVersion(1)
    var historyBaseVersion = ClientVersion(1)
    var fileIdent = SaltedFileIdent.none
    var progress = SyncProgress.zero
    var downloadedBytes: UInt64 = 0
    var downloadableBytes: UInt64 = 0
    var uploadedBytes: UInt64 = 0
    var uploadableBytes: UInt64 = 0
    var lastOriginTimestamp = OriginTimestamp(0)
    var isFirstDownloadFinished = false

    init(instance: [UInt8], home: String, owner: RealmOwner) {
        self.instance = instance
        self.home = home
        self.owner = owner
    }

    /// Takes the next client version, for the transaction that is being written.
    mutating func advanceVersion() -> ClientVersion {
        localVersion = ClientVersion(localVersion.rawValue.adding(clamping: 1))
        return localVersion
    }
}

// MARK: Reading and writing the row

extension RealmStateRow {
    /// Nil if the file is not a realm.
    static func layoutVersion(on connection: Connection) throws(SQLiteError) -> Int64? {
        let table = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = '_realm_state'"
        guard try connection.integer(table) != nil else { return nil }
        return try connection.integer("SELECT layout_version FROM _realm_state")
    }

    /// A column holds a value that the agent never writes: a number too large to count on from, a
    /// partition that is not a value.
    struct DamagedColumn: Error, CustomStringConvertible {
        let column: String
        let value: String

        var description: String { "\(column) is \(value)" }
    }

    private static func partition(_ text: String) throws(DamagedColumn) -> Partition {
        guard let partition = Partition(stored: text.utf8) else {
            throw DamagedColumn(column: "_realm_state.partition", value: text)
        }
        return partition
    }

    /// Versions grow by one at a time, so no file ever gets here, and there is room to count on.
    private static let possibleVersions = 0...Int64.max / 2
    private static let versionColumns = [
        6: "local_version", 7: "history_base_version", 10: "latest_server_version",
        12: "download_server_version", 13: "download_client_version",
        14: "upload_client_version", 15: "upload_server_version",
    ]

    init?(from connection: Connection) throws {
        let statement = try connection.statement(Self.select)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        for (column, name) in Self.versionColumns {
            let value = statement.integer(at: column)
            guard Self.possibleVersions.contains(value) else {
                throw DamagedColumn(column: "_realm_state.\(name)", value: "\(value)")
            }
        }
        func number(_ column: Int) -> UInt64 { UInt64(clamping: statement.integer(at: column)) }
        let scope: SyncScope =
            switch statement.integer(at: 4) {
            case 0: .partition(try Self.partition(statement.text(at: 5)))
            case 2: .unsynced
            default: .subscriptions
            }
        self.init(
            instance: statement.bytes(at: 0),
            home: statement.text(at: 1),
            owner: RealmOwner(
                appID: statement.text(at: 2),
                userID: statement.text(at: 3),
                scope: scope
            )
        )
        localVersion = ClientVersion(number(6))
        historyBaseVersion = ClientVersion(number(7))
        fileIdent = SaltedFileIdent(ident: FileIdent(number(8)), salt: Salt(number(9)))
        progress = SyncProgress(
            latestServerVersion: SaltedServerVersion(
                version: ServerVersion(number(10)),
                salt: Salt(number(11))
            ),
            download: DownloadCursor(
                serverVersion: ServerVersion(number(12)),
                lastIntegratedClientVersion: ClientVersion(number(13))
            ),
            upload: UploadCursor(
                clientVersion: ClientVersion(number(14)),
                lastIntegratedServerVersion: ServerVersion(number(15))
            )
        )
        downloadedBytes = number(16)
        downloadableBytes = number(17)
        uploadedBytes = number(18)
        uploadableBytes = number(19)
        lastOriginTimestamp = OriginTimestamp(number(20))
        isFirstDownloadFinished = number(21) != 0
    }

    /// Writes the row; it exists after the first time.
    func save(to connection: Connection) throws(SQLiteError) {
        let (mode, partition): (Int64, SQLiteValue) =
            switch owner.scope {
            case .partition(let value): (0, .text(value.canonicalText))
            case .subscriptions: (1, .null)
            case .unsynced: (2, .null)
            }
        let numbers = [
            localVersion.rawValue, historyBaseVersion.rawValue,
            fileIdent.ident.rawValue, fileIdent.salt.rawValue,
            progress.latestServerVersion.version.rawValue,
            progress.latestServerVersion.salt.rawValue,
            progress.download.serverVersion.rawValue,
            progress.download.lastIntegratedClientVersion.rawValue,
            progress.upload.clientVersion.rawValue,
            progress.upload.lastIntegratedServerVersion.rawValue,
            downloadedBytes, downloadableBytes, uploadedBytes, uploadableBytes,
            lastOriginTimestamp.rawValue, isFirstDownloadFinished ? 1 : 0,
        ]
        try connection.run(
            Self.replace,
            [
                .integer(Layout.version), .blob(instance), .text(home), .text(owner.appID),
                .text(owner.userID), .integer(mode), partition,
            ] + numbers.map { .integer(Int64(clamping: $0)) }
        )
    }

    private static let columns = """
        instance, home, app_id, user_id, sync_mode, partition, local_version, \
        history_base_version, client_file_ident, client_file_ident_salt, latest_server_version, \
        latest_server_version_salt, download_server_version, download_client_version, \
        upload_client_version, upload_server_version, downloaded_bytes, downloadable, \
        uploaded_bytes, uploadable_bytes, last_origin_timestamp, first_download_finished
        """

    private static let select = "SELECT \(columns) FROM _realm_state WHERE id = 1"

    private static let replace = """
        INSERT OR REPLACE INTO _realm_state(id, layout_version, \(columns))
        VALUES (1, ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18,
          ?19, ?20, ?21, ?22, ?23)
        """
}
