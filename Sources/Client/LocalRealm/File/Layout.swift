internal import SQLite

/// The agent's own tables in a realm file (local realm, 8).
enum Layout {
    static let version: Int64 = 1

    /// Names with this prefix belong to the agent; everything else in the file is the
    /// application's.
    static let prefix = "_realm_"

    static func create(on connection: Connection) throws(SQLiteError) {
        try connection.execute(tables)
    }

    private static let tables = """
        CREATE TABLE _realm_state(
          id INTEGER PRIMARY KEY CHECK (id = 1),
          layout_version INTEGER NOT NULL, instance BLOB NOT NULL, home TEXT NOT NULL,
          local_version INTEGER NOT NULL DEFAULT 1, history_base_version INTEGER NOT NULL DEFAULT 1,
          client_file_ident INTEGER NOT NULL DEFAULT 0,
          client_file_ident_salt INTEGER NOT NULL DEFAULT 0,
          latest_server_version INTEGER NOT NULL DEFAULT 0,
          latest_server_version_salt INTEGER NOT NULL DEFAULT 0,
          download_server_version INTEGER NOT NULL DEFAULT 0,
          download_client_version INTEGER NOT NULL DEFAULT 0,
          upload_client_version INTEGER NOT NULL DEFAULT 0,
          upload_server_version INTEGER NOT NULL DEFAULT 0,
          downloaded_bytes INTEGER NOT NULL DEFAULT 0, downloadable INTEGER NOT NULL DEFAULT 0,
          uploaded_bytes INTEGER NOT NULL DEFAULT 0, uploadable_bytes INTEGER NOT NULL DEFAULT 0,
          last_origin_timestamp INTEGER NOT NULL DEFAULT 0,
          app_id TEXT NOT NULL, user_id TEXT NOT NULL, sync_mode INTEGER NOT NULL, partition TEXT,
          first_download_finished INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE _realm_reject(
          id INTEGER PRIMARY KEY, at INTEGER NOT NULL, class TEXT NOT NULL, key ANY,
          reason TEXT NOT NULL, error_code INTEGER NOT NULL, server_version INTEGER,
          row_before TEXT
        ) STRICT;
        CREATE TABLE _realm_class(
          id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,
          kind INTEGER NOT NULL, -- 0 top-level, 1 embedded, 2 asymmetric
          table_name TEXT UNIQUE, pk_name TEXT, pk_type INTEGER, pk_nullable INTEGER,
          published INTEGER NOT NULL DEFAULT 0 -- client version of AddTable; -1 learned
        ) STRICT;
        CREATE TABLE _realm_property(
          id INTEGER PRIMARY KEY, class INTEGER NOT NULL REFERENCES _realm_class,
          name TEXT NOT NULL, column_name TEXT NOT NULL,
          type INTEGER NOT NULL, nullable INTEGER NOT NULL, collection INTEGER NOT NULL,
          target INTEGER REFERENCES _realm_class,
          counter INTEGER NOT NULL DEFAULT 0, published INTEGER NOT NULL DEFAULT 0,
          UNIQUE(class, name), UNIQUE(class, column_name)
        ) STRICT;
        CREATE TABLE _realm_capture(
          seq INTEGER PRIMARY KEY,
          at INTEGER NOT NULL
            DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER)),
          class INTEGER NOT NULL, key ANY, prop INTEGER NOT NULL, old ANY
        ) STRICT;
        CREATE TABLE _realm_history(
          version INTEGER PRIMARY KEY, origin_file_ident INTEGER NOT NULL,
          origin_timestamp INTEGER NOT NULL, remote_version INTEGER NOT NULL,
          size INTEGER NOT NULL, -- uncompressed bytes of changeset
          changeset BLOB NOT NULL, reciprocal BLOB, compression INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE _realm_backlink(
          target_class INTEGER NOT NULL, target_key ANY NOT NULL, -- null key: x''
          class INTEGER NOT NULL, key ANY NOT NULL, prop INTEGER NOT NULL,
          PRIMARY KEY(target_class, target_key, class, key, prop)
        ) STRICT, WITHOUT ROWID;
        CREATE INDEX _realm_backlink_source ON _realm_backlink(class, key, prop);
        CREATE TABLE _realm_issue(
          id INTEGER PRIMARY KEY, at INTEGER NOT NULL, class INTEGER NOT NULL, key ANY,
          prop INTEGER, value ANY, reason TEXT NOT NULL
        ) STRICT;
        CREATE TABLE _realm_subscription_set(
          version INTEGER PRIMARY KEY, state INTEGER NOT NULL, snapshot_version INTEGER NOT NULL,
          error TEXT
        ) STRICT;
        CREATE TABLE _realm_subscription(
          set_version INTEGER NOT NULL, position INTEGER NOT NULL, id TEXT NOT NULL,
          created_at TEXT NOT NULL, updated_at TEXT NOT NULL, name TEXT, class TEXT NOT NULL,
          query TEXT NOT NULL, PRIMARY KEY(set_version, position)
        ) STRICT, WITHOUT ROWID;
        CREATE UNIQUE INDEX _realm_subscription_name
          ON _realm_subscription(set_version, name) WHERE name IS NOT NULL;
        CREATE TABLE _realm_bootstrap(
          id INTEGER PRIMARY KEY CHECK (id = 1),
          query_version INTEGER NOT NULL, -- the rest NULL until complete
          latest_server_version INTEGER, latest_server_version_salt INTEGER,
          download_server_version INTEGER, download_client_version INTEGER,
          upload_client_version INTEGER, upload_server_version INTEGER
        ) STRICT;
        CREATE TABLE _realm_bootstrap_changeset(
          seq INTEGER PRIMARY KEY, remote_version INTEGER NOT NULL,
          last_integrated_client_version INTEGER NOT NULL, origin_file_ident INTEGER NOT NULL,
          origin_timestamp INTEGER NOT NULL, original_size INTEGER NOT NULL,
          data BLOB NOT NULL, compression INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE _realm_reset(
          id INTEGER PRIMARY KEY CHECK (id = 1), agent_version TEXT NOT NULL, at INTEGER NOT NULL,
          mode INTEGER NOT NULL, action INTEGER NOT NULL, error_code INTEGER NOT NULL,
          error_text TEXT NOT NULL, failed INTEGER NOT NULL DEFAULT 0,
          crashes INTEGER NOT NULL DEFAULT 0
        ) STRICT;
        CREATE TABLE _realm_migration(
          id INTEGER PRIMARY KEY CHECK (id = 1), state INTEGER NOT NULL, query TEXT NOT NULL,
          partition TEXT NOT NULL, started_at INTEGER NOT NULL, completed_at INTEGER,
          sentinel_version INTEGER
        ) STRICT;
        CREATE TABLE _realm_schema_migration(
          id INTEGER PRIMARY KEY CHECK (id = 1), previous_version INTEGER NOT NULL,
          target_version INTEGER NOT NULL
        ) STRICT;
        """
}
