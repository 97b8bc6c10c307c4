/// The tables of the store, layout 1 (server on PostgreSQL, 4).
///
/// They hold what layout 6 of the embedded store does, and what several processes need besides. Each
/// text that is a key is `COLLATE "C"`: order and equality by bytes, in any locale. Times are
/// milliseconds since 1970; versions, idents, salts and epochs are below 2^63.
enum StoreTables {
    /// Names have no schema: the connection's `search_path` has the one in use.
    static let sql =
        processes + apps + users + sessions + files + histories + views + imports
        + ReaderFunctions.sql

    private static let processes = """
        CREATE TABLE layout (
            one boolean PRIMARY KEY DEFAULT true CHECK (one),
            store_id uuid NOT NULL,
            version int NOT NULL,
            writable_from int NOT NULL,
            control_epoch bigint NOT NULL DEFAULT 0,
            moved_to text
        );
        COMMENT ON COLUMN layout.store_id IS 'tells this store from a copy or an empty one';
        COMMENT ON COLUMN layout.writable_from IS 'the oldest program layout that may still use it';
        COMMENT ON COLUMN layout.control_epoch IS '+ 1 by each change that all processes must hear of';
        COMMENT ON COLUMN layout.moved_to IS 'set when the store was copied away: it is not served';

        CREATE TABLE process (
            process_id uuid PRIMARY KEY,
            host text NOT NULL,
            pid int NOT NULL,
            program text NOT NULL,
            layout int NOT NULL,
            started_at bigint NOT NULL,
            seen_at timestamptz NOT NULL,
            sessions_stamped_at timestamptz,
            clock_offset bigint NOT NULL DEFAULT 0,
            fingerprints jsonb NOT NULL,
            counts jsonb NOT NULL DEFAULT '{}'
        );
        COMMENT ON COLUMN process.sessions_stamped_at IS
            'when it last set last_seen_at of its connected clients';
        COMMENT ON COLUMN process.clock_offset IS 'the database''s clock minus its own, in ms';

        CREATE TABLE job (
            name text COLLATE "C" PRIMARY KEY,
            finished_at timestamptz NOT NULL,
            process_id uuid NOT NULL
        );
        CREATE UNLOGGED TABLE attempt (
            key bytea PRIMARY KEY,
            full_at bigint NOT NULL
        ) WITH (fillfactor = 50);

        """

    private static let apps = """
        CREATE TABLE app (
            app_id text COLLATE "C" PRIMARY KEY,
            domain_id text NOT NULL,
            created_at bigint NOT NULL,
            sync_state text NOT NULL DEFAULT 'enabled',
            declaration text NOT NULL DEFAULT '',
            read_rule text,
            write_rule text,
            generation bigint NOT NULL DEFAULT 0,
            epoch bigint NOT NULL DEFAULT 0
        );
        COMMENT ON COLUMN app.generation IS '+ 1 by each termination; files behind it start over';
        COMMENT ON COLUMN app.epoch IS '+ 1 by each change of this row or of its keys';

        CREATE TABLE signing_key (
            app_id text COLLATE "C" NOT NULL,
            position bigint NOT NULL,
            key_id text NOT NULL,
            secret bytea NOT NULL,
            created_at bigint NOT NULL,
            PRIMARY KEY (app_id, position)
        );

        """

    private static let users = """
        CREATE TABLE app_user (
            app_id text COLLATE "C" NOT NULL,
            user_id text COLLATE "C" NOT NULL,
            is_disabled boolean NOT NULL DEFAULT false,
            created_at bigint NOT NULL,
            kind text NOT NULL DEFAULT 'normal',
            data text NOT NULL DEFAULT '{}',
            cut_epoch bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (app_id, user_id)
        );
        COMMENT ON COLUMN app_user.cut_epoch IS
            '+ 1 by disabling, revoking, deleting: connections of an older one end';

        CREATE TABLE identity (
            app_id text COLLATE "C" NOT NULL,
            provider text COLLATE "C" NOT NULL,
            identity_id text COLLATE "C" NOT NULL,
            user_id text COLLATE "C" NOT NULL,
            email text NOT NULL,
            PRIMARY KEY (app_id, provider, identity_id)
        );
        CREATE INDEX identity_of_user ON identity (app_id, user_id);

        CREATE TABLE password_account (
            app_id text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            identity_id text COLLATE "C" NOT NULL,
            hash text NOT NULL,
            created_at bigint NOT NULL,
            is_confirmed boolean NOT NULL,
            PRIMARY KEY (app_id, name),
            UNIQUE (app_id, identity_id)
        );
        CREATE TABLE account_token (
            app_id text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            purpose text COLLATE "C" NOT NULL,
            token_id text COLLATE "C" NOT NULL,
            token text NOT NULL,
            created_at bigint NOT NULL,
            PRIMARY KEY (app_id, name, purpose)
        );
        CREATE INDEX account_token_of_id ON account_token (app_id, token_id);

        CREATE TABLE api_key (
            app_id text COLLATE "C" NOT NULL,
            key_id text COLLATE "C" NOT NULL,
            user_id text COLLATE "C" NOT NULL,
            name text COLLATE "C" NOT NULL,
            digest bytea NOT NULL,
            is_disabled boolean NOT NULL DEFAULT false,
            created_at bigint NOT NULL,
            PRIMARY KEY (app_id, key_id),
            UNIQUE (app_id, digest),
            UNIQUE (app_id, user_id, name)
        );

        """

    private static let sessions = """
        CREATE TABLE login_session (
            app_id text COLLATE "C" NOT NULL,
            digest bytea NOT NULL,
            user_id text COLLATE "C" NOT NULL,
            device_id text COLLATE "C" NOT NULL,
            device text NOT NULL,
            is_revoked boolean NOT NULL DEFAULT false,
            created_at bigint NOT NULL,
            expires_at bigint NOT NULL,
            PRIMARY KEY (app_id, digest)
        );
        CREATE INDEX login_session_end ON login_session (app_id, expires_at);
        CREATE INDEX login_session_of_user ON login_session (app_id, user_id, device_id);

        """

    /// Busy rows leave room beside them, so that updates need no new index entries.
    private static let files = """
        CREATE TABLE server_file (
            file_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            app_id text COLLATE "C" NOT NULL,
            partition text COLLATE "C" NOT NULL,
            current_version bigint NOT NULL DEFAULT 0,
            base_version bigint NOT NULL DEFAULT 0,
            base_version_salt bigint NOT NULL DEFAULT 0,
            generation bigint NOT NULL DEFAULT 0,
            history_bytes bigint NOT NULL DEFAULT 0,
            next_file_ident bigint NOT NULL DEFAULT 2,
            snapshot_version bigint NOT NULL DEFAULT 0,
            snapshot_bytes bigint NOT NULL DEFAULT 0,
            bytes_behind_snapshot bigint NOT NULL DEFAULT 0,
            schema_version bigint NOT NULL DEFAULT 0,
            UNIQUE (app_id, partition)
        ) WITH (
            fillfactor = 50,
            autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_threshold = 1000
        );
        COMMENT ON COLUMN server_file.partition IS 'empty: the file of a flexible app';
        COMMENT ON COLUMN server_file.schema_version IS '+ 1 by each change of the schema';

        CREATE TABLE file_schema (
            file_id bigint PRIMARY KEY,
            schema_version bigint NOT NULL,
            schema bytea NOT NULL
        );
        CREATE TABLE client_file (
            file_id bigint NOT NULL,
            ident bigint NOT NULL,
            salt bigint NOT NULL,
            user_id text COLLATE "C" NOT NULL,
            generation bigint NOT NULL,
            client_version bigint NOT NULL,
            recip_base_version bigint NOT NULL,
            locked_server_version bigint NOT NULL,
            is_expired boolean NOT NULL,
            session_epoch bigint NOT NULL,
            last_seen_at bigint NOT NULL,
            snapshot_version bigint NOT NULL DEFAULT 0,
            history_bytes bigint NOT NULL DEFAULT 0,
            PRIMARY KEY (file_id, ident)
        ) WITH (fillfactor = 70);
        CREATE INDEX client_file_of_user ON client_file (user_id, file_id);
        -- Without the time: an update of an indexed column would touch every index.
        CREATE INDEX client_file_unidentified ON client_file (file_id, ident)
            WHERE session_epoch = 0;

        """

    private static let histories = """
        CREATE TABLE history (
            file_id bigint NOT NULL,
            version bigint NOT NULL,
            version_salt bigint NOT NULL,
            origin_file_ident bigint NOT NULL,
            client_version bigint NOT NULL,
            origin_timestamp bigint NOT NULL,
            cumulative_bytes bigint NOT NULL,
            private_to bigint NOT NULL DEFAULT 0,
            changeset bytea COMPRESSION lz4 NOT NULL,
            PRIMARY KEY (file_id, version)
        );
        CREATE INDEX history_of_one_client ON history (file_id, private_to, version)
            WHERE private_to <> 0;

        CREATE TABLE reciprocal (
            file_id bigint NOT NULL,
            ident bigint NOT NULL,
            version bigint NOT NULL,
            changeset bytea COMPRESSION lz4 NOT NULL,
            PRIMARY KEY (file_id, ident, version)
        );
        CREATE TABLE snapshot (
            file_id bigint NOT NULL,
            snapshot_version bigint NOT NULL,
            version bigint NOT NULL,
            made_at bigint NOT NULL,
            changeset bytea COMPRESSION lz4 NOT NULL,
            PRIMARY KEY (file_id, snapshot_version, version)
        );
        CREATE TABLE object (
            file_id bigint NOT NULL,
            class text COLLATE "C" NOT NULL,
            key bytea NOT NULL,
            document jsonb COMPRESSION lz4 NOT NULL,
            long_key bytea,
            PRIMARY KEY (file_id, class, key)
        ) WITH (fillfactor = 80);
        COMMENT ON COLUMN object.key IS 'above 512 bytes: 0xfe and the SHA-256 of long_key';

        """

    /// The tables of flexible sync.
    private static let views = """
        CREATE TABLE touched_object (
            file_id bigint NOT NULL,
            class text COLLATE "C" NOT NULL,
            key bytea NOT NULL,
            long_key bytea,
            version bigint NOT NULL,
            change bigint NOT NULL,
            image text COMPRESSION lz4 NOT NULL,
            new_image text COMPRESSION lz4,
            PRIMARY KEY (file_id, class, key, version)
        );
        CREATE INDEX touched_object_of_version ON touched_object (file_id, version, class, key);
        COMMENT ON COLUMN touched_object.change IS '1 created, 2 kept, 3 changed, 4 deleted';

        CREATE TABLE view_epoch (
            file_id bigint NOT NULL,
            ident bigint NOT NULL,
            start_version bigint NOT NULL,
            client_version bigint NOT NULL,
            view bytea NOT NULL,
            PRIMARY KEY (file_id, ident, start_version)
        );
        CREATE TABLE view_range (
            file_id bigint NOT NULL,
            ident bigint NOT NULL,
            start_version bigint NOT NULL,
            end_version bigint NOT NULL,
            PRIMARY KEY (file_id, ident, end_version)
        );
        CREATE TABLE write_rejection (
            file_id bigint NOT NULL,
            ident bigint NOT NULL,
            version bigint NOT NULL,
            client_version bigint NOT NULL,
            updates bytea NOT NULL,
            PRIMARY KEY (file_id, ident, version)
        );

        """

    /// Stores that earlier versions made lack this table.
    static let imports = """
        CREATE TABLE IF NOT EXISTS imported_object (
            app_id text COLLATE "C" NOT NULL,
            class text COLLATE "C" NOT NULL,
            key bytea NOT NULL,
            long_key bytea,
            file_id bigint NOT NULL,
            digest bigint NOT NULL,
            PRIMARY KEY (app_id, class, key)
        );
        COMMENT ON TABLE imported_object IS 'what import data wrote, to know what clients changed since';

        """
}
