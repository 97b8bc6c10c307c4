import PostgreSQL
import PostgreSQLServerStore

/// A database's settings, and the rights of the server's role (server on PostgreSQL, 8).
struct DatabaseFacts: Hashable, Sendable {
    /// Such as 150018 for 15.18.
    var version = 0
    var encoding = ""
    var layout = PostgreSQLLayout.Survey.empty
    var schemaExists = false
    /// Whether the role may make tables in the schema, or the schema itself.
    var mayCreate = false
    /// Tables of the store that the role may not read or write.
    var tablesWithoutRights: [String] = []
    var isSuperuser = false
    /// Connections of ordinary roles, and those in use without this one.
    var connectionLimit: Int64 = 0
    var connectionsInUse: Int64 = 0
    var synchronousCommit = ""
    var fsync = ""
    /// The setting `synchronous_standby_names`.
    var synchronousStandbys = ""
    /// Nil without TLS.
    var tlsVersion: String?
    /// The database's clock minus this machine's, in milliseconds.
    var clockOffset: Int64 = 0

    /// Reads them; nothing is changed.
    ///
    /// - Parameter now: milliseconds since 1970.
    static func read(
        _ connection: Connection,
        schema: String,
        now: () -> Int64
    ) throws -> DatabaseFacts {
        var facts = DatabaseFacts(version: connection.serverVersion)
        let before = now()
        let rows = try connection.run(
            """
            SELECT (extract(epoch FROM clock_timestamp()) * 1000)::int8,
                current_setting('server_encoding'),
                current_setting('max_connections')::int8
                    - current_setting('superuser_reserved_connections')::int8,
                (SELECT count(*) FROM pg_stat_activity
                    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()),
                current_setting('synchronous_commit'), current_setting('fsync'),
                current_setting('synchronous_standby_names'),
                (SELECT rolsuper FROM pg_roles WHERE rolname = current_user),
                (SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid() AND ssl),
                EXISTS (SELECT FROM pg_namespace WHERE nspname = $1),
                CASE WHEN EXISTS (SELECT FROM pg_namespace WHERE nspname = $1)
                    THEN has_schema_privilege(quote_ident($1), 'CREATE')
                        AND has_schema_privilege(quote_ident($1), 'USAGE')
                    ELSE has_database_privilege(current_database(), 'CREATE') END
            """,
            [.string(schema)]
        )
        let middle = before + (now() - before) / 2
        facts.clockOffset = try rows.integer(0, 0) &- middle
        facts.encoding = try rows.string(0, 1)
        facts.connectionLimit = try rows.integer(0, 2)
        facts.connectionsInUse = try rows.integer(0, 3)
        facts.synchronousCommit = try rows.string(0, 4)
        facts.fsync = try rows.string(0, 5)
        facts.synchronousStandbys = try rows.string(0, 6)
        facts.isSuperuser = try !rows.isNull(0, 7) && rows.bool(0, 7)
        facts.tlsVersion = try rows.isNull(0, 8) ? nil : rows.string(0, 8)
        facts.schemaExists = try rows.bool(0, 9)
        facts.mayCreate = try rows.bool(0, 10)
        facts.layout = try PostgreSQLLayout.survey(connection, schema: schema)
        facts.tablesWithoutRights = try tablesWithoutRights(connection, schema)
        return facts
    }

    private static func tablesWithoutRights(
        _ connection: Connection,
        _ schema: String
    ) throws -> [String] {
        let rows = try connection.run(
            """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
                AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT')
                    AND has_table_privilege(c.oid, 'UPDATE')
                    AND has_table_privilege(c.oid, 'DELETE'))
            ORDER BY 1
            """,
            [.string(schema)]
        )
        var names: [String] = []
        for row in 0..<rows.count { names.append(try rows.string(row, 0)) }
        return names
    }
}
