/// A table that both kinds of store have, with columns of the same meaning in the same order.
struct CopiedTable: Sendable {
    /// The embedded store's name.
    let name: String
    /// The columns and their order in the embedded store.
    let embedded: String
    /// The table and its columns on PostgreSQL, for COPY.
    let target: StaticString
    /// Opens a cursor over the rows on PostgreSQL, and reads its next rows.
    let cursor: StaticString
    let fetch: StaticString
    let columns: [Column]

    /// The type of a column.
    enum Column: Hashable, Sendable {
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

    private init(
        _ name: String,
        _ embedded: String,
        _ target: StaticString,
        _ cursor: StaticString,
        _ fetch: StaticString,
        _ columns: [Column]
    ) {
        self.name = name
        self.embedded = embedded
        self.target = target
        self.cursor = cursor
        self.fetch = fetch
        self.columns = columns
    }

    /// In an order in which a file's schema precedes its objects.
    static let all = accounts + files + views

    private static let accounts = [
        CopiedTable(
            "app",
            "SELECT app_id, domain_id, created_at, sync_state, declaration, read_rule, write_rule FROM app",
            """
            app (app_id, domain_id, created_at, sync_state, declaration, read_rule, write_rule)
            """,
            """
            DECLARE copy_app NO SCROLL CURSOR FOR SELECT app_id, domain_id, created_at, sync_state,
                declaration, read_rule, write_rule FROM app
            """,
            "FETCH 256 FROM copy_app",
            [.text, .text, .integer, .text, .text, .text, .text]
        ),
        CopiedTable(
            "signing_key",
            "SELECT app_id, position, key_id, secret, created_at FROM signing_key",
            "signing_key (app_id, position, key_id, secret, created_at)",
            """
            DECLARE copy_signing_key NO SCROLL CURSOR FOR
                SELECT app_id, position, key_id, secret, created_at FROM signing_key
            """,
            "FETCH 256 FROM copy_signing_key",
            [.text, .integer, .text, .bytes, .integer]
        ),
        CopiedTable(
            "user",
            "SELECT app_id, user_id, is_disabled, created_at, kind, data FROM user",
            "app_user (app_id, user_id, is_disabled, created_at, kind, data)",
            """
            DECLARE copy_app_user NO SCROLL CURSOR FOR
                SELECT app_id, user_id, is_disabled, created_at, kind, data FROM app_user
            """,
            "FETCH 256 FROM copy_app_user",
            [.text, .text, .flag, .integer, .text, .text]
        ),
        CopiedTable(
            "identity",
            "SELECT app_id, provider, identity_id, user_id, email FROM identity",
            "identity (app_id, provider, identity_id, user_id, email)",
            """
            DECLARE copy_identity NO SCROLL CURSOR FOR
                SELECT app_id, provider, identity_id, user_id, email FROM identity
            """,
            "FETCH 256 FROM copy_identity",
            [.text, .text, .text, .text, .text]
        ),
        CopiedTable(
            "password_account",
            "SELECT app_id, name, identity_id, hash, created_at, is_confirmed FROM password_account",
            "password_account (app_id, name, identity_id, hash, created_at, is_confirmed)",
            """
            DECLARE copy_password_account NO SCROLL CURSOR FOR
                SELECT app_id, name, identity_id, hash, created_at, is_confirmed
                FROM password_account
            """,
            "FETCH 256 FROM copy_password_account",
            [.text, .text, .text, .text, .integer, .flag]
        ),
        CopiedTable(
            "account_token",
            "SELECT app_id, name, purpose, token_id, token, created_at FROM account_token",
            "account_token (app_id, name, purpose, token_id, token, created_at)",
            """
            DECLARE copy_account_token NO SCROLL CURSOR FOR
                SELECT app_id, name, purpose, token_id, token, created_at FROM account_token
            """,
            "FETCH 256 FROM copy_account_token",
            [.text, .text, .text, .text, .text, .integer]
        ),
        CopiedTable(
            "api_key",
            "SELECT app_id, key_id, user_id, name, digest, is_disabled, created_at FROM api_key",
            "api_key (app_id, key_id, user_id, name, digest, is_disabled, created_at)",
            """
            DECLARE copy_api_key NO SCROLL CURSOR FOR
                SELECT app_id, key_id, user_id, name, digest, is_disabled, created_at FROM api_key
            """,
            "FETCH 256 FROM copy_api_key",
            [.text, .text, .text, .text, .bytes, .flag, .integer]
        ),
        CopiedTable(
            "login_session",
            """
            SELECT app_id, digest, user_id, device_id, device, is_revoked, created_at, expires_at
            FROM login_session
            """,
            """
            login_session (app_id, digest, user_id, device_id, device, is_revoked, created_at,
                expires_at)
            """,
            """
            DECLARE copy_login_session NO SCROLL CURSOR FOR
                SELECT app_id, digest, user_id, device_id, device, is_revoked, created_at,
                    expires_at
                FROM login_session
            """,
            "FETCH 256 FROM copy_login_session",
            [.text, .bytes, .text, .text, .text, .flag, .integer, .integer]
        ),
    ]

    private static let files = [
        CopiedTable(
            "server_file",
            """
            SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                bytes_behind_snapshot
            FROM server_file
            """,
            """
            server_file (file_id, app_id, partition, current_version, base_version,
                base_version_salt, generation, history_bytes, next_file_ident, snapshot_version,
                snapshot_bytes, bytes_behind_snapshot)
            """,
            """
            DECLARE copy_server_file NO SCROLL CURSOR FOR
                SELECT file_id, app_id, partition, current_version, base_version, base_version_salt,
                    generation, history_bytes, next_file_ident, snapshot_version, snapshot_bytes,
                    bytes_behind_snapshot
                FROM server_file
            """,
            "FETCH 256 FROM copy_server_file",
            [
                .integer, .text, .text, .integer, .integer, .integer, .integer, .integer, .integer,
                .integer, .integer, .integer,
            ]
        ),
        CopiedTable(
            fileSchema,
            "SELECT file_id, 0, schema FROM server_file WHERE length(schema) > 0",
            "file_schema (file_id, schema_version, schema)",
            """
            DECLARE copy_file_schema NO SCROLL CURSOR FOR
                SELECT file_id, 0::int8, schema FROM file_schema WHERE length(schema) > 0
            """,
            "FETCH 64 FROM copy_file_schema",
            [.integer, .integer, .bytes]
        ),
        CopiedTable(
            "client_file",
            """
            SELECT file_id, ident, salt, user_id, generation, client_version, recip_base_version,
                locked_server_version, is_expired, session_epoch, last_seen_at, snapshot_version,
                history_bytes
            FROM client_file
            """,
            """
            client_file (file_id, ident, salt, user_id, generation, client_version,
                recip_base_version, locked_server_version, is_expired, session_epoch, last_seen_at,
                snapshot_version, history_bytes)
            """,
            """
            DECLARE copy_client_file NO SCROLL CURSOR FOR
                SELECT file_id, ident, salt, user_id, generation, client_version,
                    recip_base_version, locked_server_version, is_expired, session_epoch,
                    last_seen_at, snapshot_version, history_bytes
                FROM client_file
            """,
            "FETCH 256 FROM copy_client_file",
            [
                .integer, .integer, .integer, .text, .integer, .integer, .integer, .integer, .flag,
                .integer, .integer, .integer, .integer,
            ]
        ),
        CopiedTable(
            "history",
            """
            SELECT file_id, version, version_salt, origin_file_ident, client_version,
                origin_timestamp, cumulative_bytes, private_to, changeset
            FROM history
            """,
            """
            history (file_id, version, version_salt, origin_file_ident, client_version,
                origin_timestamp, cumulative_bytes, private_to, changeset)
            """,
            """
            DECLARE copy_history NO SCROLL CURSOR FOR
                SELECT file_id, version, version_salt, origin_file_ident, client_version,
                    origin_timestamp, cumulative_bytes, private_to, changeset
                FROM history
            """,
            "FETCH 16 FROM copy_history",
            [
                .integer, .integer, .integer, .integer, .integer, .integer, .integer, .integer,
                .bytes,
            ]
        ),
        CopiedTable(
            "reciprocal",
            "SELECT file_id, ident, version, changeset FROM reciprocal",
            "reciprocal (file_id, ident, version, changeset)",
            """
            DECLARE copy_reciprocal NO SCROLL CURSOR FOR
                SELECT file_id, ident, version, changeset FROM reciprocal
            """,
            "FETCH 16 FROM copy_reciprocal",
            [.integer, .integer, .integer, .bytes]
        ),
        CopiedTable(
            "snapshot",
            "SELECT file_id, snapshot_version, version, made_at, changeset FROM snapshot",
            "snapshot (file_id, snapshot_version, version, made_at, changeset)",
            """
            DECLARE copy_snapshot NO SCROLL CURSOR FOR
                SELECT file_id, snapshot_version, version, made_at, changeset FROM snapshot
            """,
            "FETCH 16 FROM copy_snapshot",
            [.integer, .integer, .integer, .integer, .bytes]
        ),
        CopiedTable(
            object,
            "SELECT file_id, class, key, document FROM object ORDER BY file_id, class",
            "object (file_id, class, key, long_key, document)",
            """
            DECLARE copy_object NO SCROLL CURSOR FOR
                SELECT file_id, class, coalesce(long_key, key), document FROM object
                ORDER BY file_id, class
            """,
            "FETCH 64 FROM copy_object",
            [.integer, .text, .objectKey, .document]
        ),
    ]

    private static let views = [
        CopiedTable(
            "touched_object",
            "SELECT file_id, class, key, version, change, image, new_image FROM touched_object",
            "touched_object (file_id, class, key, long_key, version, change, image, new_image)",
            """
            DECLARE copy_touched_object NO SCROLL CURSOR FOR
                SELECT file_id, class, coalesce(long_key, key), version, change, image, new_image
                FROM touched_object
            """,
            "FETCH 64 FROM copy_touched_object",
            [.integer, .text, .objectKey, .integer, .integer, .text, .text]
        ),
        CopiedTable(
            "view_epoch",
            "SELECT file_id, ident, start_version, client_version, view FROM view_epoch",
            "view_epoch (file_id, ident, start_version, client_version, view)",
            """
            DECLARE copy_view_epoch NO SCROLL CURSOR FOR
                SELECT file_id, ident, start_version, client_version, view FROM view_epoch
            """,
            "FETCH 16 FROM copy_view_epoch",
            [.integer, .integer, .integer, .integer, .bytes]
        ),
        CopiedTable(
            "view_range",
            "SELECT file_id, ident, start_version, end_version FROM view_range",
            "view_range (file_id, ident, start_version, end_version)",
            """
            DECLARE copy_view_range NO SCROLL CURSOR FOR
                SELECT file_id, ident, start_version, end_version FROM view_range
            """,
            "FETCH 256 FROM copy_view_range",
            [.integer, .integer, .integer, .integer]
        ),
        CopiedTable(
            "write_rejection",
            "SELECT file_id, ident, version, client_version, updates FROM write_rejection",
            "write_rejection (file_id, ident, version, client_version, updates)",
            """
            DECLARE copy_write_rejection NO SCROLL CURSOR FOR
                SELECT file_id, ident, version, client_version, updates FROM write_rejection
            """,
            "FETCH 16 FROM copy_write_rejection",
            [.integer, .integer, .integer, .integer, .bytes]
        ),
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
