import PostgreSQL
import Schemas
package import ServerStore

/// Keeps the views of apps as their schemas are.
package struct AppViews: ObjectViews {
    /// The role that reads the views, and nothing else of the store.
    package static let readerRole = "realm_reader"

    /// Takes turns between processes: "RLMS" and a number.
    private static let lock = Step("SELECT pg_advisory_xact_lock(x'524c4d5300000002'::int8)")

    private let store: PostgreSQLStore

    package init(of store: PostgreSQLStore) {
        self.store = store
    }

    package func stamps() async throws -> [AppID: String] {
        try await store.administer { connection in
            let rows = StoredRows(
                try connection.run(
                    """
                    SELECT app_id, count(*) || ' ' || sum(schema_version) FROM server_file
                    GROUP BY app_id
                    """
                )
            )
            var result: [AppID: String] = [:]
            for row in 0..<rows.count {
                guard let app = AppID(try rows.string(row, 0)) else { continue }
                result[app] = try rows.string(row, 1)
            }
            return result
        }
    }

    /// Makes the views of an app again where its classes have changed, in one transaction.
    ///
    /// - Parameter schema: of the views; made if it is missing.
    /// - Returns: whether there was a change.
    @discardableResult
    package func refresh(_ app: AppID, in schema: String) async throws -> Bool {
        let place = store.target.schema ?? "realm"
        guard schema != place else {
            throw StoreError(
                .failed,
                "the schema \(schema) is the store's; set apps.\(app).sql.schema to another one"
            )
        }
        return try await store.administer { connection in
            try connection.pipeline([Step("BEGIN"), Self.lock])
            let schemas = try Self.schemas(of: app, connection)
            let statements = Self.statements(
                for: ClassView.views(of: schemas),
                of: app,
                in: schema,
                store: place
            )
            let known = try connection.run(
                """
                SELECT obj_description(oid, 'pg_namespace') FROM pg_catalog.pg_namespace
                WHERE nspname = $1
                """,
                [.string(schema)]
            )
            let isMissing = known.count == 0
            let mark = Self.mark(of: statements)
            if !isMissing, try !known.isNull(0, 0), try known.string(0, 0) == mark {
                try connection.run("ROLLBACK")
                return false
            }
            try Self.change(connection, schema, statements, mark: mark, isMissing: isMissing)
            try connection.run("COMMIT")
            return true
        }
    }

    private static func change(
        _ connection: Connection,
        _ schema: String,
        _ statements: String,
        mark: String,
        isMissing: Bool
    ) throws {
        let name = Target.quoted(schema)
        if isMissing { try connection.execute("CREATE SCHEMA \(name)") }
        let views = try connection.run(
            """
            SELECT c.relname::text FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relkind = 'v'
                AND obj_description(c.oid, 'pg_class') = 'realm-server'
            """,
            [.string(schema)]
        )
        for row in 0..<views.count {
            let view = Target.quoted(try views.string(row, 0))
            try connection.execute("DROP VIEW \(name).\(view)")
        }
        try connection.execute(statements)
        try connection.execute("COMMENT ON SCHEMA \(name) IS \(ClassView.literal(mark))")
        let roles = try connection.run(
            "SELECT count(*) FROM pg_catalog.pg_roles WHERE rolname = $1",
            [.string(readerRole)]
        )
        guard try roles.integer(0, 0) > 0 else { return }
        try connection.execute(grants(on: schema))
    }

    private static func schemas(
        of app: AppID,
        _ connection: Connection
    ) throws -> [RealmSchema] {
        let rows = try connection.run(
            """
            SELECT DISTINCT s.schema FROM server_file f JOIN file_schema s USING (file_id)
            WHERE f.app_id = $1
            """,
            [.string(app.rawValue)]
        )
        return try (0..<rows.count).map { row in
            guard let schema = StoredSchema.decode(try rows.bytes(row, 0)) else {
                throw StoreError.damaged("a schema of app \(app)")
            }
            return schema
        }
    }

    // MARK: SQL

    static func statements(
        for views: [ClassView],
        of app: AppID,
        in schema: String,
        store: String
    ) -> String {
        views.map { view in
            let name = "\(Target.quoted(schema)).\(Target.quoted(view.name))"
            return """
                \(view.sql(of: app.rawValue, in: schema, store: store))
                COMMENT ON VIEW \(name) IS 'realm-server';

                """
        }.joined()
    }

    /// The comment on a schema that has the views of these statements.
    private static func mark(of statements: String) -> String {
        var hash = UInt64(0xcbf2_9ce4_8422_2325)
        for byte in statements.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return "views of realm-server, \(String(hash, radix: 16))"
    }

    private static func grants(on schema: String) -> String {
        let name = Target.quoted(schema)
        return """
            GRANT USAGE ON SCHEMA \(name) TO \(readerRole);
            GRANT SELECT ON ALL TABLES IN SCHEMA \(name) TO \(readerRole);
            """
    }

    /// For an administrator of a server whose role may not make schemas, behind `PostgreSQLLayout.sql`:
    /// the role that reads views, and the schemas of the apps' views.
    ///
    /// - Parameters:
    ///   - role: of the server.
    ///   - apps: the schemas of views.
    package static func administratorSQL(role: String, apps: [String]) -> String {
        let schemas = apps.map { app in
            """
            CREATE SCHEMA IF NOT EXISTS \(Target.quoted(app)) AUTHORIZATION \(Target.quoted(role));

            """
        }
        return """
            DO $$ BEGIN
                CREATE ROLE \(readerRole) NOLOGIN;
            EXCEPTION WHEN duplicate_object THEN
            END $$;
            \(schemas.joined())
            """
    }
}
