import Changesets
import LocalRealm
import SQLite
import Versions

/// The agent's tables in a realm file after a damage: columns get any values of their types, and rows are added. The agent
/// opens the file, drains, and integrates a download.
enum RealmFileInput {
    static func run(_ bytes: [UInt8], _ claims: inout Claims) {
        guard let scratch = ScratchRealm() else { return }
        defer { scratch.remove() }
        guard let program = scratch.connect() else { return }
        damage(bytes, by: program)
        program.close()
        guard let realm = try? scratch.open() else { return }
        defer { realm.close() }
        _ = realm.status
        _ = try? realm.drain()
        let end = realm.status.localVersion
        _ = try? realm.scanUploads(from: .zero, upTo: end)
        _ = try? realm.scanUploads(from: realm.status.progress.upload, upTo: end)
        _ = try? realm.acknowledgedVersion()
        _ = try? realm.integrate([download], progress: progress(end), downloadableBytes: 1)
        _ = try? realm.markDownloadCompleted()
        _ = try? realm.makeDurable()
        _ = realm.status
    }

    private static func damage(_ bytes: [UInt8], by program: Connection) {
        var choices = Choices(bytes)
        try? program.execute("PRAGMA ignore_check_constraints = 1; BEGIN IMMEDIATE")
        try? program.setTriggersEnabled(false)
        var steps = 0
        while !choices.isEmpty, steps < 20 {
            steps += 1
            let (table, columns) = choices.element(of: tables)
            let column = choices.element(of: columns)
            switch choices.byte() % 4 {
            case 0, 1, 2: try? program.run("UPDATE \(table) SET \(column) = ?1", [choices.value()])
            default:
                let marks = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
                try? program.run(
                    "INSERT OR REPLACE INTO \(table)(\(columns.joined(separator: ", "))) VALUES (\(marks))",
                    columns.map { _ in choices.value() }
                )
            }
        }
        try? program.execute("COMMIT")
    }

    private static let tables: [(String, [String])] = [
        (
            "_realm_state",
            [
                "layout_version", "instance", "home", "local_version", "history_base_version",
                "client_file_ident",
                "client_file_ident_salt", "latest_server_version", "latest_server_version_salt",
                "download_server_version", "download_client_version", "upload_client_version",
                "upload_server_version", "downloaded_bytes", "downloadable", "uploaded_bytes",
                "uploadable_bytes",
                "last_origin_timestamp", "app_id", "user_id", "sync_mode", "partition",
                "first_download_finished",
            ]
        ),
        (
            "_realm_class",
            ["id", "name", "kind", "table_name", "pk_name", "pk_type", "pk_nullable", "published"]
        ),
        (
            "_realm_property",
            [
                "id", "class", "name", "column_name", "type", "nullable", "collection", "target",
                "counter", "published",
            ]
        ),
        ("_realm_capture", ["seq", "at", "class", "key", "prop", "old"]),
        (
            "_realm_history",
            [
                "version", "origin_file_ident", "origin_timestamp", "remote_version", "size",
                "changeset", "reciprocal",
                "compression",
            ]
        ),
        ("_realm_backlink", ["target_class", "target_key", "class", "key", "prop"]),
        ("_realm_issue", ["id", "at", "class", "key", "prop", "value", "reason"]),
        ("_realm_subscription_set", ["version", "state", "snapshot_version", "error"]),
        (
            "_realm_subscription",
            ["set_version", "position", "id", "created_at", "updated_at", "name", "class", "query"]
        ),
        (
            "_realm_bootstrap",
            [
                "id", "query_version", "latest_server_version", "latest_server_version_salt",
                "download_server_version",
                "download_client_version", "upload_client_version", "upload_server_version",
            ]
        ),
        (
            "_realm_bootstrap_changeset",
            [
                "seq", "remote_version", "last_integrated_client_version", "origin_file_ident",
                "origin_timestamp",
                "original_size", "data", "compression",
            ]
        ),
        (
            "_realm_reset",
            [
                "id", "agent_version", "at", "mode", "action", "error_code", "error_text", "failed",
                "crashes",
            ]
        ),
        (
            "_realm_migration",
            ["id", "state", "query", "partition", "started_at", "completed_at", "sentinel_version"]
        ),
    ]

    /// Another device's change of an object that the template holds.
    private static let download: DownloadChangeset = {
        var writer = ChangesetWriter()
        let object = ObjectReference(className: "Task", key: .int(1))
        writer.update(object, "title", to: .scalar(.string("other")))
        return DownloadChangeset(
            cursor: DownloadCursor(
                serverVersion: ServerVersion(5),
                lastIntegratedClientVersion: .zero
            ),
            originTimestamp: OriginTimestamp(1),
            originFileIdent: FileIdent(9),
            originalSizeInBytes: 10,
            bytes: writer.bytes
        )
    }()

    private static func progress(_ end: ClientVersion) -> SyncProgress {
        SyncProgress(
            latestServerVersion: SaltedServerVersion(version: ServerVersion(5), salt: Salt(1)),
            download: DownloadCursor(
                serverVersion: ServerVersion(5),
                lastIntegratedClientVersion: .zero
            ),
            upload: UploadCursor(clientVersion: end, lastIntegratedServerVersion: .zero)
        )
    }
}
