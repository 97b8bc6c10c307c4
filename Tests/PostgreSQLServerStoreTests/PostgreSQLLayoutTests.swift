import Dispatch
import FoundationEssentials
import PostgreSQL
import PostgreSQLFixtures
import Synchronization
import TestSupport
import Testing

@testable import PostgreSQLServerStore

@Suite(
    "The store's tables in PostgreSQL",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct PostgreSQLLayoutTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    private func connect(
        _ schema: String = "realm",
        user: String = "realm"
    ) throws -> Connection {
        var target = database.target(user: user)
        target.schema = schema
        return try Connection(target, deadline: .after(.seconds(60)))
    }

    private func problem(
        _ schema: String = "realm",
        _ connection: Connection? = nil
    ) throws -> LayoutProblem {
        let connection = try connection ?? connect(schema)
        let problem = try #require(throws: LayoutProblem.self) {
            try PostgreSQLLayout.prepare(connection, schema: schema)
        }
        #expect(connection.transaction == .none)
        return problem
    }

    @Test(
        "The first start makes the tables; later ones find the same store",
        arguments: ["realm", "a \"b"]
    )
    func creation(schema: String) throws {
        let made = try PostgreSQLLayout.prepare(connect(schema), schema: schema)
        #expect(made.version == LayoutState.version)
        #expect(made.controlEpoch == 0)
        #expect(UUID(uuidString: made.storeID) != nil)
        let connection = try connect(schema)
        #expect(try PostgreSQLLayout.prepare(connection, schema: schema) == made)
        #expect(
            try PostgreSQLLayout.check(connection, schema: schema, storeID: made.storeID) == made
        )
        let tables = try connection.run(
            "SELECT count(*) FROM pg_tables WHERE schemaname = $1",
            [.string(schema)]
        )
        #expect(try tables.integer(0, 0) == 24)
    }

    @Test("Two schemas of one database are two stores")
    func schemas() throws {
        let first = try PostgreSQLLayout.prepare(connect("one"), schema: "one")
        let second = try PostgreSQLLayout.prepare(connect("two"), schema: "two")
        #expect(first.storeID != second.storeID)
        #expect(throws: LayoutProblem.otherStore) {
            try PostgreSQLLayout.check(connect("two"), schema: "two", storeID: first.storeID)
        }
    }

    @Test("An empty schema that an administrator made is filled; one with other tables is not")
    func givenSchemas() throws {
        let connection = try connect()
        try connection.execute(
            "CREATE SCHEMA realm; CREATE SCHEMA other; CREATE TABLE other.t (n int8)"
        )
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        #expect(try problem("other") == .otherTables(1))
        try connection.execute("CREATE SCHEMA third; CREATE TABLE third.layout (version int)")
        #expect(try problem("third") == .otherTables(1))
    }

    @Test("Of processes that start together one makes the tables, and all find them")
    func race() throws {
        let connections = try (0..<6).map { _ in Unshared(try connect()) }
        let found = Mutex<[Result<PostgreSQLLayout.Found, any Error>]>([])
        DispatchQueue.concurrentPerform(iterations: connections.count) { index in
            let result = Result {
                try PostgreSQLLayout.prepare(connections[index].value, schema: "realm")
            }
            found.withLock { $0.append(result) }
        }
        let stores = try found.withLock { results in try results.map { try $0.get() } }
        #expect(stores.count == 6)
        #expect(Set(stores.map(\.storeID)).count == 1)
    }

    @Test("A layout that is too new, moved or damaged is refused, and the table stays as it is")
    func refusals() throws {
        let connection = try connect()
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        try connection.execute("UPDATE layout SET version = 7, writable_from = 6")
        let newer = try problem()
        #expect(newer == .newer(version: 7, writableFrom: 6))
        #expect("\(newer)".contains("layout 7"))
        try connection.execute("UPDATE layout SET version = 7, writable_from = 1, moved_to = 'x'")
        #expect(try problem() == .moved(to: "x"))
        try connection.execute("UPDATE layout SET version = 0, moved_to = NULL")
        #expect(try problem() == .damaged)
        try connection.execute("DELETE FROM layout")
        guard case .otherTables = try problem() else {
            Issue.record("a layout without a row is not a store")
            return
        }
    }

    @Test("Tables that are gone are not made again while the program runs")
    func gone() throws {
        let connection = try connect()
        let made = try PostgreSQLLayout.prepare(connection, schema: "realm")
        try connection.execute("DROP SCHEMA realm CASCADE")
        #expect(throws: LayoutProblem.tablesAreGone) {
            try PostgreSQLLayout.check(connect(), schema: "realm", storeID: made.storeID)
        }
        let count = try connection.run(
            "SELECT count(*) FROM pg_namespace WHERE nspname = 'realm'"
        )
        #expect(try count.integer(0, 0) == 0)
    }

    @Test("A database of another encoding is refused with the remedy")
    func encoding() throws {
        let latin = try TestDatabase(options: "TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
        let problem = try problem("realm", latin.connect())
        #expect(problem == .encoding("LATIN1"))
        #expect("\(problem)".contains("ENCODING 'UTF8'"))
    }

    @Test("A role without the right to make a schema gets the server's reason, and leaves nothing")
    func rights() throws {
        let connection = try connect(user: "plain")
        let error = try #require(throws: PostgreSQLError.self) {
            try PostgreSQLLayout.prepare(connection, schema: "realm")
        }
        #expect(error.sqlState == "42501")
        #expect(error.condition == .unusable)
        #expect(connection.transaction == .none)
        let name = database.name
        try connect().execute("GRANT CREATE ON DATABASE \(name) TO plain")
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
    }

    @Test("Keys are ordered by bytes, changesets are compressed with lz4, attempts are not logged")
    func properties() throws {
        let connection = try connect()
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        let keys = try connection.run(
            """
            SELECT count(*), count(*) FILTER (WHERE collname = 'C') FROM pg_index i
            JOIN pg_class t ON t.oid = i.indrelid
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey)
            JOIN pg_collation c ON c.oid = a.attcollation
            WHERE t.relnamespace = 'realm'::regnamespace AND a.atttypid = 'text'::regtype
            """
        )
        #expect(try keys.integer(0, 0) >= 30)
        #expect(try keys.integer(0, 0) == keys.integer(0, 1))
        let compressed = try connection.run(
            """
            SELECT string_agg(attrelid::regclass::text || '.' || attname, ' ' ORDER BY 1)
            FROM pg_attribute WHERE attcompression = 'l' AND attnum > 0
                AND attrelid::regclass::text IN (SELECT tablename FROM pg_tables)
            """
        )
        #expect(
            try compressed.string(0, 0).split(separator: " ").sorted() == [
                "history.changeset", "object.document", "reciprocal.changeset",
                "snapshot.changeset", "touched_object.image", "touched_object.new_image",
            ]
        )
        let unlogged = try connection.run(
            "SELECT string_agg(relname, ' ') FROM pg_class WHERE relpersistence = 'u' AND relkind = 'r'"
        )
        #expect(try unlogged.string(0, 0) == "attempt")
    }

    @Test("Updates of busy rows need no new index entries")
    func updates() throws {
        let connection = try connect()
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        try connection.execute(
            """
            INSERT INTO server_file (app_id, partition) VALUES ('shop', '');
            INSERT INTO client_file VALUES (1, 2, 3, 'u', 0, 0, 0, 0, false, 5, 0)
            """
        )
        for number in 1...50 {
            try connection.pipeline([
                Step(
                    "UPDATE server_file SET current_version = $1 WHERE file_id = 1",
                    [.integer(Int64(number))]
                ),
                Step(
                    "UPDATE client_file SET client_version = $1, last_seen_at = $1 WHERE file_id = 1",
                    [.integer(Int64(number))]
                ),
            ])
        }
        // Statistics of a connection are written out when it ends.
        connection.close()
        let reader = try connect()
        var updates = (all: Int64(0), hot: Int64(0))
        for _ in 0..<200 where updates.all < 100 {
            let rows = try reader.run(
                """
                SELECT sum(n_tup_upd)::int8, sum(n_tup_hot_upd)::int8 FROM pg_stat_user_tables
                WHERE relname IN ('server_file', 'client_file')
                """
            )
            updates = (try rows.integer(0, 0), try rows.integer(0, 1))
            if updates.all < 100 { _ = try reader.notifications(until: .after(.milliseconds(50))) }
        }
        #expect(updates.all == 100)
        #expect(updates.hot == 100)
    }

    @Test("Objects with keys of any length are stored, found and told apart")
    func longKeys() throws {
        let connection = try connect()
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        var random = SplitMix64(seed: 3)
        let keys = [0, 1, 16, 511, 512, 513, 3000, 3000, 1 << 20].map { count in
            [2] + (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
        }
        let rows = keys.map { RowKey(storedKey: $0) }
        let put = Step(
            """
            INSERT INTO object (file_id, class, key, document, long_key)
            SELECT 1, 'C', k, d, l FROM unnest($1::bytea[], $2::jsonb[], $3::bytea[]) u(k, d, l)
            """,
            [
                .byteStrings(rows.map(\.key)),
                .documents(keys.indices.map { Array("\($0)".utf8) }),
                .byteStrings(rows.map(\.longKey)),
            ]
        )
        try connection.pipeline([put])
        for (index, key) in keys.enumerated() {
            let found = try connection.run(
                "SELECT key, long_key, document FROM object WHERE file_id = 1 AND class = 'C' AND key = $1",
                [.bytes(RowKey(storedKey: key).key)]
            )
            #expect(found.count == 1)
            let row = RowKey(
                key: try found.bytes(0, 0),
                longKey: try found.isNull(0, 1) ? nil : try found.bytes(0, 1)
            )
            #expect(row?.storedKey == key)
            #expect(try found.bytes(0, 2) == Array("\(index)".utf8))
        }
    }
}

/// A value that only one thread uses at a time, which the compiler cannot see.
private struct Unshared<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}
