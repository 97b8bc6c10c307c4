package import SQLite

/// The records of realms: path, owner and suspension.
extension MetadataDatabase {
    func suspension(of realm: String) throws(SQLiteError) -> Suspension? {
        let row = try connection.row(
            "SELECT is_suspended, suspended_until, suspended_by FROM realm WHERE name = ?",
            [.text(realm)]
        )
        guard let row, case .integer(1) = row[0] else { return nil }
        return Suspension(
            until: row[1].integer,
            author: row[2].text.map { .plugin(name: $0) } ?? .user
        )
    }

    func keep(_ suspension: Suspension?, of realm: String) throws(SQLiteError) {
        var plugin: String?
        if case .plugin(let name) = suspension?.author { plugin = name }
        try connection.run(
            """
            INSERT INTO realm(name, is_suspended, suspended_until, suspended_by)
            VALUES (?, ?, ?, ?)
            ON CONFLICT(name) DO UPDATE SET is_suspended = excluded.is_suspended,
                suspended_until = excluded.suspended_until, suspended_by = excluded.suspended_by
            """,
            [
                .text(realm), .integer(suspension == nil ? 0 : 1),
                .init(suspension?.until), .init(plugin),
            ]
        )
    }

    func record(of realm: String) throws(SQLiteError) -> RealmRecord? {
        let row = try connection.row(
            """
            SELECT path, instance, home, app_id, user_id, partition, local_version,
                first_download_finished, last_connected, last_uploaded, last_downloaded
            FROM realm WHERE name = ? AND path IS NOT NULL
            """,
            [.text(realm)]
        )
        guard let row else { return nil }
        return RealmRecord(
            path: row[0].text ?? "",
            instance: row[1].text ?? "",
            home: row[2].text ?? "",
            appID: row[3].text ?? "",
            userID: row[4].text ?? "",
            partition: row[5].text ?? "",
            localVersion: row[6].integer.flatMap(UInt64.init(exactly:)) ?? 0,
            isFirstDownloadFinished: row[7].integer == 1,
            lastConnected: row[8].integer,
            lastUploaded: row[9].integer,
            lastDownloaded: row[10].integer
        )
    }

    func keep(_ record: RealmRecord, of realm: String) throws(SQLiteError) {
        try connection.run(
            """
            INSERT INTO realm(name, path, instance, home, app_id, user_id, sync_mode, partition,
                local_version, first_download_finished, last_connected, last_uploaded,
                last_downloaded)
            VALUES (?, ?, ?, ?, ?, ?, 'partition', ?, ?, ?, ?, ?, ?)
            ON CONFLICT(name) DO UPDATE SET path = excluded.path, instance = excluded.instance,
                home = excluded.home, app_id = excluded.app_id, user_id = excluded.user_id,
                sync_mode = excluded.sync_mode, partition = excluded.partition,
                local_version = excluded.local_version,
                first_download_finished = excluded.first_download_finished,
                last_connected = coalesce(excluded.last_connected, last_connected),
                last_uploaded = coalesce(excluded.last_uploaded, last_uploaded),
                last_downloaded = coalesce(excluded.last_downloaded, last_downloaded)
            """,
            [
                .text(realm), .text(record.path), .text(record.instance), .text(record.home),
                .text(record.appID), .text(record.userID), .text(record.partition),
                .integer(Int64(clamping: record.localVersion)),
                .integer(record.isFirstDownloadFinished ? 1 : 0), .init(record.lastConnected),
                .init(record.lastUploaded), .init(record.lastDownloaded),
            ]
        )
    }

    /// When the last refresh by schedule began that was carried out, in seconds since 1970.
    package func lastRefresh(of realm: String) throws(SQLiteError) -> Int64? {
        try connection.row("SELECT began_at FROM refresh WHERE realm = ?", [.text(realm)])?[0]
            .integer
    }

    package func keepRefresh(at seconds: Int64, of realm: String) throws(SQLiteError) {
        try connection.run(
            """
            INSERT INTO refresh(realm, began_at) VALUES (?, ?)
            ON CONFLICT(realm) DO UPDATE SET began_at = excluded.began_at
            """,
            [.text(realm), .integer(seconds)]
        )
    }

    func fileAction(of realm: String) throws(SQLiteError) -> FileAction? {
        try connection.row(
            "SELECT pending_file_action FROM realm WHERE name = ?",
            [.text(realm)]
        )?[0].text.flatMap(FileAction.init(text:))
    }

    func keepFileAction(_ action: FileAction?, of realm: String) throws(SQLiteError) {
        try connection.run(
            """
            INSERT INTO realm(name, pending_file_action) VALUES (?, ?)
            ON CONFLICT(name) DO UPDATE SET pending_file_action = excluded.pending_file_action
            """,
            [.text(realm), .init(action?.text)]
        )
    }

    /// Forgets a realm whose files are gone.
    package func forget(realm: String) throws(SQLiteError) {
        try connection.run("DELETE FROM realm WHERE name = ?", [.text(realm)])
        try connection.run("DELETE FROM refresh WHERE realm = ?", [.text(realm)])
    }
}

extension SQLiteValue {
    init(_ integer: Int64?) {
        self = integer.map(SQLiteValue.integer) ?? .null
    }

    init(_ text: String?) {
        self = text.map(SQLiteValue.text) ?? .null
    }

    var integer: Int64? {
        if case .integer(let value) = self { value } else { nil }
    }

    var text: String? {
        if case .text(let value) = self { value } else { nil }
    }
}
