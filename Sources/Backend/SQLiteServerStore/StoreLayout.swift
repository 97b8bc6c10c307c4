import SQLite
import ServerStore

/// The tables of the embedded store (sync history, 11; local realm, 11).
enum StoreLayout {
    /// "RLMS" in the file's header: distinguishes a store from other databases.
    static let applicationID: Int64 = 0x524c_4d53
    static let version: Int64 = 6

    static let sql = """
        CREATE TABLE app (
            app_id TEXT PRIMARY KEY,
            domain_id TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            sync_state TEXT NOT NULL DEFAULT 'enabled',
            declaration TEXT NOT NULL DEFAULT '',
            read_rule TEXT,
            write_rule TEXT
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE signing_key (
            app_id TEXT NOT NULL,
            position INTEGER NOT NULL,
            key_id TEXT NOT NULL,
            secret BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (app_id, position)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE user (
            app_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            is_disabled INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            kind TEXT NOT NULL DEFAULT 'normal',
            data TEXT NOT NULL DEFAULT '{}',
            PRIMARY KEY (app_id, user_id)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE identity (
            app_id TEXT NOT NULL,
            provider TEXT NOT NULL,
            identity_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            email TEXT NOT NULL,
            PRIMARY KEY (app_id, provider, identity_id)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX identity_of_user ON identity (app_id, user_id);

        CREATE TABLE password_account (
            app_id TEXT NOT NULL,
            name TEXT NOT NULL,
            identity_id TEXT NOT NULL,
            hash TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            is_confirmed INTEGER NOT NULL,
            PRIMARY KEY (app_id, name)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX password_account_of_identity
            ON password_account (app_id, identity_id);

        CREATE TABLE account_token (
            app_id TEXT NOT NULL,
            name TEXT NOT NULL,
            purpose TEXT NOT NULL,
            token_id TEXT NOT NULL,
            token TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (app_id, name, purpose)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX account_token_of_id ON account_token (app_id, token_id);

        CREATE TABLE api_key (
            app_id TEXT NOT NULL,
            key_id TEXT NOT NULL,
            user_id TEXT NOT NULL,
            name TEXT NOT NULL,
            digest BLOB NOT NULL,
            is_disabled INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (app_id, key_id),
            UNIQUE (app_id, digest),
            UNIQUE (app_id, user_id, name)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE login_session (
            app_id TEXT NOT NULL,
            digest BLOB NOT NULL,
            user_id TEXT NOT NULL,
            device_id TEXT NOT NULL,
            device TEXT NOT NULL,
            is_revoked INTEGER NOT NULL DEFAULT 0,
            created_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            PRIMARY KEY (app_id, digest)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX login_session_end ON login_session (app_id, expires_at);
        CREATE INDEX login_session_of_user ON login_session (app_id, user_id, device_id);

        CREATE TABLE server_file (
            file_id INTEGER PRIMARY KEY,
            app_id TEXT NOT NULL,
            partition TEXT NOT NULL,
            current_version INTEGER NOT NULL DEFAULT 0,
            base_version INTEGER NOT NULL DEFAULT 0,
            base_version_salt INTEGER NOT NULL DEFAULT 0,
            generation INTEGER NOT NULL DEFAULT 0,
            history_bytes INTEGER NOT NULL DEFAULT 0,
            next_file_ident INTEGER NOT NULL DEFAULT 2,
            snapshot_version INTEGER NOT NULL DEFAULT 0,
            snapshot_bytes INTEGER NOT NULL DEFAULT 0,
            bytes_behind_snapshot INTEGER NOT NULL DEFAULT 0,
            schema BLOB NOT NULL DEFAULT x'',
            UNIQUE (app_id, partition)
        ) STRICT;

        CREATE TABLE history (
            file_id INTEGER NOT NULL,
            version INTEGER NOT NULL,
            version_salt INTEGER NOT NULL,
            origin_file_ident INTEGER NOT NULL,
            client_version INTEGER NOT NULL,
            origin_timestamp INTEGER NOT NULL,
            cumulative_bytes INTEGER NOT NULL,
            private_to INTEGER NOT NULL DEFAULT 0,
            changeset BLOB NOT NULL,
            PRIMARY KEY (file_id, version)
        ) STRICT;

        CREATE TABLE client_file (
            file_id INTEGER NOT NULL,
            ident INTEGER NOT NULL,
            salt INTEGER NOT NULL,
            user_id TEXT NOT NULL,
            generation INTEGER NOT NULL,
            client_version INTEGER NOT NULL,
            recip_base_version INTEGER NOT NULL,
            locked_server_version INTEGER NOT NULL,
            is_expired INTEGER NOT NULL,
            session_epoch INTEGER NOT NULL,
            last_seen_at INTEGER NOT NULL,
            snapshot_version INTEGER NOT NULL DEFAULT 0,
            history_bytes INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (file_id, ident)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX client_file_of_user ON client_file (user_id, file_id);
        CREATE INDEX client_file_unidentified ON client_file (last_seen_at)
            WHERE session_epoch = 0;

        CREATE TABLE reciprocal (
            file_id INTEGER NOT NULL,
            ident INTEGER NOT NULL,
            version INTEGER NOT NULL,
            changeset BLOB NOT NULL,
            PRIMARY KEY (file_id, ident, version)
        ) STRICT;

        CREATE TABLE snapshot (
            file_id INTEGER NOT NULL,
            snapshot_version INTEGER NOT NULL,
            version INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            changeset BLOB NOT NULL,
            PRIMARY KEY (file_id, snapshot_version, version)
        ) STRICT;

        CREATE TABLE object (
            file_id INTEGER NOT NULL,
            class TEXT NOT NULL,
            key BLOB NOT NULL,
            document TEXT NOT NULL,
            PRIMARY KEY (file_id, class, key)
        ) STRICT, WITHOUT ROWID;

        \(views)
        """

    /// The tables of flexible sync, new in layout 6.
    static let views = """
        CREATE TABLE touched_object (
            file_id INTEGER NOT NULL,
            class TEXT NOT NULL,
            key BLOB NOT NULL,
            version INTEGER NOT NULL,
            change INTEGER NOT NULL,
            image TEXT NOT NULL,
            new_image TEXT,
            PRIMARY KEY (file_id, class, key, version)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX touched_object_of_version ON touched_object (file_id, version);

        CREATE TABLE view_epoch (
            file_id INTEGER NOT NULL,
            ident INTEGER NOT NULL,
            start_version INTEGER NOT NULL,
            client_version INTEGER NOT NULL,
            view BLOB NOT NULL,
            PRIMARY KEY (file_id, ident, start_version)
        ) STRICT;

        CREATE TABLE view_range (
            file_id INTEGER NOT NULL,
            ident INTEGER NOT NULL,
            start_version INTEGER NOT NULL,
            end_version INTEGER NOT NULL,
            PRIMARY KEY (file_id, ident, end_version)
        ) STRICT, WITHOUT ROWID;

        CREATE TABLE write_rejection (
            file_id INTEGER NOT NULL,
            ident INTEGER NOT NULL,
            version INTEGER NOT NULL,
            client_version INTEGER NOT NULL,
            updates BLOB NOT NULL,
            PRIMARY KEY (file_id, ident, version)
        ) STRICT;
        """

    /// Tables and indexes that stores of this layout may lack. Versions that do not know them still
    /// maintain the indexes, and can do without the records of imports.
    private static let additions = """
        CREATE INDEX IF NOT EXISTS history_of_one_client
            ON history (file_id, private_to, version) WHERE private_to <> 0;
        CREATE TABLE IF NOT EXISTS imported_object (
            app_id TEXT NOT NULL,
            class TEXT NOT NULL,
            key BLOB NOT NULL,
            file_id INTEGER NOT NULL,
            digest INTEGER NOT NULL,
            PRIMARY KEY (app_id, class, key)
        ) STRICT, WITHOUT ROWID;
        """

    /// Sets the page size of a store that is about to be created; others keep theirs. Larger pages mean fewer
    /// writes for a batch of objects, and more bytes for a small commit.
    static func setPageSize(of connection: Connection) throws(SQLiteError) {
        try connection.execute("PRAGMA page_size = \(pageSizeInBytes)")
    }

    static let pageSizeInBytes = 8192

    /// Checks that a running server's tables have the layout of this version.
    static func check(_ connection: Connection) throws {
        try refuseMoved(connection)
        let version = try connection.integer("PRAGMA user_version") ?? 0
        let id = try connection.integer("PRAGMA application_id") ?? 0
        guard id == applicationID, version == Self.version else {
            throw StoreError(
                .unusable,
                "\(connection.path): the running server has a store of layout \(version), this "
                    + "version of realm-server knows layout \(Self.version); run the version of the "
                    + "server"
            )
        }
        try connection.execute(additions)
    }

    /// Creates the tables in an empty file, or checks that they have the layout of this version.
    static func prepare(_ connection: Connection) throws {
        try refuseMoved(connection)
        let applicationID = try connection.integer("PRAGMA application_id") ?? 0
        let version = try connection.integer("PRAGMA user_version") ?? 0
        let isEmpty = try connection.integer("SELECT count(*) FROM sqlite_schema") == 0
        switch (isEmpty, applicationID, version) {
        case (true, 0, 0):
            try connection.transaction {
                try connection.execute(sql)
                try connection.execute("PRAGMA application_id = \(Self.applicationID)")
                try connection.execute("PRAGMA user_version = \(Self.version)")
            }
        case (false, Self.applicationID, Self.version):
            break
        case (false, Self.applicationID, _) where StoreUpgrade.isPossible(from: version):
            try StoreUpgrade.run(on: connection, from: version)
        case (false, Self.applicationID, _):
            throw StoreError(
                .unusable,
                "\(connection.path): the store has layout \(version), this version of "
                    + "realm-server knows layout \(Self.version); install the version that wrote "
                    + "it, or restore a backup of before"
            )
        default:
            throw StoreError(
                .unusable,
                "\(connection.path): this is an SQLite database, but not a store of realm-server"
            )
        }
        try connection.execute(additions)
    }
}
