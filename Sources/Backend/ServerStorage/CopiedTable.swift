/// A table that both kinds of store have, with columns of the same meaning in the same order.
struct CopiedTable: Sendable {
    /// The embedded store's name.
    let name: String
    let columns: [Column]
    /// Reads the columns in the embedded store.
    let selection: String
    /// The table and its columns on PostgreSQL, for COPY.
    let target: String
    /// Opens a cursor over the rows on PostgreSQL, and reads its next rows.
    let cursor: String
    let fetch: String
    /// Counts the rows on PostgreSQL.
    let count: String

    struct Column: Sendable {
        let name: String
        let type: ColumnType
    }

    enum ColumnType: Hashable, Sendable {
        case integer
        /// 0 or 1 in the embedded store.
        case flag
        case text
        case bytes
        /// The key of an object: on PostgreSQL with a second column for long ones.
        case objectKey
        /// An object as JSON.
        case document
    }

    /// - Parameters:
    ///   - order: groups the rows; they come as they are without it.
    ///   - selection: where the embedded store has the columns in another table.
    private init(
        _ name: String,
        onPostgreSQL other: String? = nil,
        rowsAtOnce: Int,
        _ columns: KeyValuePairs<String, ColumnType>,
        order: String? = nil,
        selection: String? = nil,
        selectionOnPostgreSQL: String? = nil
    ) {
        let table = other ?? name
        let order = order.map { " ORDER BY \($0)" } ?? ""
        self.name = name
        self.columns = columns.map { Column(name: $0.key, type: $0.value) }
        self.selection = selection ?? "SELECT \(Self.list(columns) { $0 }) FROM \(name)\(order)"
        target = "\(table) (\(Self.list(columns) { "\($0), long_\($0)" }))"
        let stored =
            selectionOnPostgreSQL
            ?? "SELECT \(Self.list(columns) { "coalesce(long_\($0), \($0))" }) FROM \(table)\(order)"
        count = "SELECT count(*) FROM (\(stored)) AS stored"
        cursor = "DECLARE copy_\(table) NO SCROLL CURSOR FOR \(stored)"
        fetch = "FETCH \(rowsAtOnce) FROM copy_\(table)"
    }

    /// The names of the columns, with another text for keys of objects.
    private static func list(
        _ columns: KeyValuePairs<String, ColumnType>,
        key: (String) -> String
    ) -> String {
        columns.map { $0.value == .objectKey ? key($0.key) : $0.key }.joined(separator: ", ")
    }

    /// In an order in which a file's schema precedes its objects.
    static let all = accounts + files + views + imports

    private static let accounts = [
        CopiedTable(
            "app",
            rowsAtOnce: 256,
            [
                "app_id": .text, "domain_id": .text, "created_at": .integer, "sync_state": .text,
                "declaration": .text, "read_rule": .text, "write_rule": .text,
            ]
        ),
        CopiedTable(
            "signing_key",
            rowsAtOnce: 256,
            [
                "app_id": .text, "position": .integer, "key_id": .text, "secret": .bytes,
                "created_at": .integer,
            ]
        ),
        CopiedTable(
            "user",
            onPostgreSQL: "app_user",
            rowsAtOnce: 256,
            [
                "app_id": .text, "user_id": .text, "is_disabled": .flag, "created_at": .integer,
                "kind": .text, "data": .text,
            ]
        ),
        CopiedTable(
            "identity",
            rowsAtOnce: 256,
            [
                "app_id": .text, "provider": .text, "identity_id": .text, "user_id": .text,
                "email": .text,
            ]
        ),
        CopiedTable(
            "password_account",
            rowsAtOnce: 256,
            [
                "app_id": .text, "name": .text, "identity_id": .text, "hash": .text,
                "created_at": .integer, "is_confirmed": .flag,
            ]
        ),
        CopiedTable(
            "account_token",
            rowsAtOnce: 256,
            [
                "app_id": .text, "name": .text, "purpose": .text, "token_id": .text,
                "token": .text, "created_at": .integer,
            ]
        ),
        CopiedTable(
            "api_key",
            rowsAtOnce: 256,
            [
                "app_id": .text, "key_id": .text, "user_id": .text, "name": .text,
                "digest": .bytes, "is_disabled": .flag, "created_at": .integer,
            ]
        ),
        CopiedTable(
            "login_session",
            rowsAtOnce: 256,
            [
                "app_id": .text, "digest": .bytes, "user_id": .text, "device_id": .text,
                "device": .text, "is_revoked": .flag, "created_at": .integer,
                "expires_at": .integer,
            ]
        ),
    ]

    private static let files = [
        CopiedTable(
            "server_file",
            rowsAtOnce: 256,
            [
                "file_id": .integer, "app_id": .text, "partition": .text,
                "current_version": .integer, "base_version": .integer,
                "base_version_salt": .integer, "generation": .integer, "history_bytes": .integer,
                "next_file_ident": .integer, "snapshot_version": .integer,
                "snapshot_bytes": .integer, "bytes_behind_snapshot": .integer,
            ]
        ),
        CopiedTable(
            fileSchema,
            rowsAtOnce: 64,
            [
                "file_id": .integer, "schema_version": .integer, "schema": .bytes,
            ],
            selection: "SELECT file_id, 0, schema FROM server_file WHERE length(schema) > 0",
            selectionOnPostgreSQL: """
                SELECT file_id, 0::int8, schema FROM file_schema WHERE length(schema) > 0
                """
        ),
        CopiedTable(
            "client_file",
            rowsAtOnce: 256,
            [
                "file_id": .integer, "ident": .integer, "salt": .integer, "user_id": .text,
                "generation": .integer, "client_version": .integer, "recip_base_version": .integer,
                "locked_server_version": .integer, "is_expired": .flag, "session_epoch": .integer,
                "last_seen_at": .integer, "snapshot_version": .integer, "history_bytes": .integer,
            ]
        ),
        CopiedTable(
            "history",
            rowsAtOnce: 16,
            [
                "file_id": .integer, "version": .integer, "version_salt": .integer,
                "origin_file_ident": .integer, "client_version": .integer,
                "origin_timestamp": .integer, "cumulative_bytes": .integer, "private_to": .integer,
                "changeset": .bytes,
            ]
        ),
        CopiedTable(
            "reciprocal",
            rowsAtOnce: 16,
            [
                "file_id": .integer, "ident": .integer, "version": .integer, "changeset": .bytes,
            ]
        ),
        CopiedTable(
            "snapshot",
            rowsAtOnce: 16,
            [
                "file_id": .integer, "snapshot_version": .integer, "version": .integer,
                "made_at": .integer, "changeset": .bytes,
            ]
        ),
        CopiedTable(
            object,
            rowsAtOnce: 64,
            [
                "file_id": .integer, "class": .text, "key": .objectKey, "document": .document,
            ],
            order: "file_id, class"
        ),
    ]

    private static let views = [
        CopiedTable(
            "touched_object",
            rowsAtOnce: 64,
            [
                "file_id": .integer, "class": .text, "key": .objectKey, "version": .integer,
                "change": .integer, "image": .text, "new_image": .text,
            ]
        ),
        CopiedTable(
            "view_epoch",
            rowsAtOnce: 16,
            [
                "file_id": .integer, "ident": .integer, "start_version": .integer,
                "client_version": .integer, "view": .bytes,
            ]
        ),
        CopiedTable(
            "view_range",
            rowsAtOnce: 256,
            [
                "file_id": .integer, "ident": .integer, "start_version": .integer,
                "end_version": .integer,
            ]
        ),
        CopiedTable(
            "write_rejection",
            rowsAtOnce: 16,
            [
                "file_id": .integer, "ident": .integer, "version": .integer,
                "client_version": .integer, "updates": .bytes,
            ]
        ),
    ]

    private static let imports = [
        CopiedTable(
            "imported_object",
            rowsAtOnce: 256,
            [
                "app_id": .text, "class": .text, "key": .objectKey, "file_id": .integer,
                "digest": .integer,
            ]
        )
    ]

    /// The schemas are a column of `server_file` in the embedded store.
    static let fileSchema = "file_schema"
    static let object = "object"
}

/// A value of a row that is copied.
enum CopiedValue: Hashable, Sendable {
    /// An integer or a flag.
    case integer(Int64)
    /// Text, or a document; nil is NULL.
    case text([UInt8]?)
    case bytes([UInt8])
}
