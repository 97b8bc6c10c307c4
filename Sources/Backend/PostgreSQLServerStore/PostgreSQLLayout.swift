package import PostgreSQL

/// Finds the store's tables in a database, or makes them at start in an empty schema.
package enum PostgreSQLLayout {
    /// The store that a connection reaches.
    package struct Found: Hashable, Sendable {
        /// Made once; tells this store from a copy or an empty one.
        package let storeID: String
        package let version: Int64
        package let controlEpoch: Int64

        init(_ row: LayoutState.Row) {
            storeID = row.storeID
            version = row.version
            controlEpoch = row.controlEpoch
        }
    }

    /// The layout that this program makes.
    package static let version = LayoutState.version

    /// The lock of those who look at the layout and may change it: "RLMS" and a number.
    private static let lock = Step("SELECT pg_advisory_xact_lock(x'524c4d5300000001'::int8)")

    /// Makes a store of empty tables.
    private static let firstRowSQL = """
        INSERT INTO layout (store_id, version, writable_from)
        VALUES (gen_random_uuid(), \(LayoutState.version), \(LayoutState.writableFrom));
        """

    /// Makes the tables if the schema is empty or missing; for the start of the program.
    ///
    /// Processes that start together take turns. Throws `LayoutProblem` or `PostgreSQLError`.
    ///
    /// - Parameter connection: its target names the same schema.
    package static func prepare(_ connection: Connection, schema: String) throws -> Found {
        try inTransaction(connection) {
            switch try state(connection, schema).decision(at: .start) {
            case .create:
                let name = Target.quoted(schema)
                if try !exists(connection, schema) {
                    try connection.execute("CREATE SCHEMA \(name)")
                    try connection.execute("REVOKE ALL ON SCHEMA \(name) FROM PUBLIC")
                }
                try connection.execute(StoreTables.sql + firstRowSQL)
                guard let row = try state(connection, schema).row else {
                    throw LayoutProblem.damaged
                }
                return Found(row)
            case .use(let row):
                try addMissing(connection)
                return Found(row)
            case .refuse(let problem): throw problem
            }
        }
    }

    /// Makes the table that stores of earlier versions lack. A role that may not make tables leaves it out:
    /// then only imports fail.
    private static func addMissing(_ connection: Connection) throws {
        guard try !connection.pipeline([ImportedObjectRows.presence])[0].bool(0, 0) else { return }
        try connection.run("SAVEPOINT additions")
        do throws(PostgreSQLError) {
            try connection.execute(StoreTables.imports)
        } catch {
            guard error.sqlState == insufficientPrivilege else { throw error }
            try connection.run("ROLLBACK TO SAVEPOINT additions")
        }
        try connection.run("RELEASE SAVEPOINT additions")
    }

    private static let insufficientPrivilege = "42501"

    /// The statements that make the tables, for an administrator who does not let the server do it.
    package static func sql(schema: String, role: String) -> String {
        let (schema, role) = (Target.quoted(schema), Target.quoted(role))
        return """
            -- Run as the owner of the database. Afterwards the server's role reads and writes rows only.
            BEGIN;
            CREATE SCHEMA \(schema);
            REVOKE ALL ON SCHEMA \(schema) FROM PUBLIC;
            SET LOCAL search_path = \(schema), pg_temp;

            \(StoreTables.sql)
            \(firstRowSQL)
            GRANT USAGE ON SCHEMA \(schema) TO \(role);
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(role);
            GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA \(schema) TO \(role);
            COMMIT;

            """
    }

    /// The content of a schema.
    package enum Survey: Hashable, Sendable {
        /// No tables, or no schema.
        case empty
        case found(Found)
        case problem(LayoutProblem)
    }

    /// Looks at a schema, and changes nothing.
    package static func survey(_ connection: Connection, schema: String) throws -> Survey {
        switch try state(connection, schema).decision(at: .start) {
        case .create: .empty
        case .use(let row): .found(Found(row))
        case .refuse(let problem): .problem(problem)
        }
    }

    /// Checks a new connection of the running program: the same store, with a usable layout.
    ///
    /// Throws `LayoutProblem` or `PostgreSQLError`.
    package static func check(
        _ connection: Connection,
        schema: String,
        storeID: String
    ) throws -> Found {
        switch try state(connection, schema).decision(at: .reconnection(storeID: storeID)) {
        case .use(let row): return Found(row)
        case .refuse(let problem): throw problem
        case .create: throw LayoutProblem.tablesAreGone
        }
    }

    /// The same as the check of a pool's connections.
    package static func laneCheck(schema: String, storeID: String) -> Lanes.Check {
        { connection throws(LaneFailure) in
            do {
                _ = try check(connection, schema: schema, storeID: storeID)
            } catch let problem as LayoutProblem {
                throw .unusable(problem)
            } catch {
                let error = error as? PostgreSQLError
                throw .noConnection(error ?? .malformed("the layout cannot be read"))
            }
        }
    }

    // MARK: Reading

    private static func exists(_ connection: Connection, _ schema: String) throws -> Bool {
        let rows = try connection.run(
            "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = $1",
            [.string(schema)]
        )
        return try rows.integer(0, 0) > 0
    }

    private static func state(_ connection: Connection, _ schema: String) throws -> LayoutState {
        let rows = try connection.run(
            """
            SELECT current_setting('server_encoding'), count(c.oid),
                count(c.oid) FILTER (WHERE c.relname = 'layout' AND c.relkind = 'r')
            FROM pg_catalog.pg_namespace n
            LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid
                AND c.relkind IN ('r', 'p', 'v', 'm', 'S', 'f')
            WHERE n.nspname = $1
            """,
            [.string(schema)]
        )
        guard rows.count == 1 else {
            let encoding = try connection.run("SELECT current_setting('server_encoding')")
            return LayoutState(encoding: try encoding.string(0, 0), relations: 0)
        }
        var state = LayoutState(
            encoding: try rows.string(0, 0),
            relations: try rows.integer(0, 1)
        )
        if try rows.integer(0, 2) == 1 { state.row = try row(connection, schema) }
        return state
    }

    /// Nil if the table has other columns, or no row: then it is not a store's.
    private static func row(
        _ connection: Connection,
        _ schema: String
    ) throws -> LayoutState.Row? {
        let columns = try connection.run(
            """
            SELECT count(*) FROM pg_catalog.pg_attribute a
            JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1 AND c.relname = 'layout' AND NOT a.attisdropped AND a.attname
                IN ('store_id', 'version', 'writable_from', 'control_epoch', 'moved_to')
            """,
            [.string(schema)]
        )
        guard try columns.integer(0, 0) == 5 else { return nil }
        let rows = try connection.run(
            """
            SELECT store_id::text, version::int8, writable_from::int8, control_epoch, moved_to
            FROM layout
            """
        )
        guard rows.count == 1 else { return nil }
        return LayoutState.Row(
            storeID: try rows.string(0, 0),
            version: try rows.integer(0, 1),
            writableFrom: try rows.integer(0, 2),
            controlEpoch: try rows.integer(0, 3),
            movedTo: try rows.isNull(0, 4) ? nil : try rows.string(0, 4)
        )
    }

    private static func inTransaction<Result>(
        _ connection: Connection,
        _ body: () throws -> Result
    ) throws -> Result {
        try connection.pipeline([Step("BEGIN"), lock])
        do {
            let result = try body()
            try connection.run("COMMIT")
            return result
        } catch {
            // The error counts; a connection that is lost has rolled back.
            _ = try? connection.run("ROLLBACK")
            throw error
        }
    }
}
