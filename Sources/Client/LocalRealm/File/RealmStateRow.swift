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
    /// Those of ``numbers`` that are versions.
    private static let versionNames = [
        0: "local_version", 1: "history_base_version", 4: "latest_server_version",
        6: "download_server_version", 7: "download_client_version",
        8: "upload_client_version", 9: "upload_server_version",
    ]
    private static let numberCount = 16
    private static let firstNumberColumn = 6

    init?(from connection: Connection) throws {
        let statement = try connection.statement(Self.select)
        defer { statement.reset() }
        guard try statement.step() else { return nil }
        for (number, name) in Self.versionNames {
            let value = statement.integer(at: Self.firstNumberColumn + number)
            guard Self.possibleVersions.contains(value) else {
                throw DamagedColumn(column: "_realm_state.\(name)", value: "\(value)")
            }
        }
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
        set(
            (0..<Self.numberCount).map {
                UInt64(clamping: statement.integer(at: Self.firstNumberColumn + $0))
            }
        )
    }

    /// Nil unless there are as many numbers as in ``numbers``, and all are possible.
    init?(instance: [UInt8], home: String, owner: RealmOwner, numbers: [UInt64]) {
        guard numbers.count == Self.numberCount, numbers.allSatisfy({ $0 <= Int64.max }),
            Self.versionNames.keys.allSatisfy({
                Self.possibleVersions.contains(Int64(clamping: numbers[$0]))
            })
        else { return nil }
        self.init(instance: instance, home: home, owner: owner)
        set(numbers)
    }

    /// Writes the row; it exists after the first time.
    func save(to connection: Connection) throws(SQLiteError) {
        let (mode, partition): (Int64, SQLiteValue) =
            switch owner.scope {
            case .partition(let value): (0, .text(value.canonicalText))
            case .subscriptions: (1, .null)
            case .unsynced: (2, .null)
            }
        try connection.run(
            Self.replace,
            [
                .integer(Layout.version), .blob(instance), .text(home), .text(owner.appID),
                .text(owner.userID), .integer(mode), partition,
            ] + numbers.map { .integer(Int64(clamping: $0)) }
        )
    }

    /// The columns from `local_version` on.
    var numbers: [UInt64] {
        [
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
    }

    private mutating func set(_ numbers: [UInt64]) {
        localVersion = ClientVersion(numbers[0])
        historyBaseVersion = ClientVersion(numbers[1])
        fileIdent = SaltedFileIdent(ident: FileIdent(numbers[2]), salt: Salt(numbers[3]))
        progress = SyncProgress(
            latestServerVersion: SaltedServerVersion(
                version: ServerVersion(numbers[4]),
                salt: Salt(numbers[5])
            ),
            download: DownloadCursor(
                serverVersion: ServerVersion(numbers[6]),
                lastIntegratedClientVersion: ClientVersion(numbers[7])
            ),
            upload: UploadCursor(
                clientVersion: ClientVersion(numbers[8]),
                lastIntegratedServerVersion: ServerVersion(numbers[9])
            )
        )
        downloadedBytes = numbers[10]
        downloadableBytes = numbers[11]
        uploadedBytes = numbers[12]
        uploadableBytes = numbers[13]
        lastOriginTimestamp = OriginTimestamp(numbers[14])
        isFirstDownloadFinished = numbers[15] != 0
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
