import Changesets
import PostgreSQL
import PostgreSQLFixtures
import Schemas
import Scopes
import ServerFixtures
import ServerStore
import Testing
import Versions

@testable import PostgreSQLServerStore

/// The plans of PostgreSQL for the statements of the store (P2).
@Suite(
    "Store on PostgreSQL: plans",
    .timeLimit(.minutes(10)),
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct StatementPlanTests {
    /// Calls all that is about files once, so that all its statements are prepared.
    private static func useFiles(
        _ file: ServerFileID,
        _ transaction: any StoreTransaction
    ) throws {
        let (app, user) = (StoreWorld.app, StoreWorld.user)
        _ = try StoreWorld.upload([1], into: file, transaction)
        try useReads(file, transaction)
        try transaction.removeReciprocals(for: StoreWorld.ident, in: file, upTo: .zero)
        try transaction.appendSnapshot(
            [1],
            at: ServerVersion(1),
            of: ServerVersion(9),
            in: file,
            at: 1
        )
        try transaction.removeSnapshots(of: file, only: ServerVersion(9))
        try transaction.removeSnapshots(of: file, only: nil)
        try transaction.removeUnfinishedSnapshots(of: file)
        try transaction.trimHistory(of: file, upTo: .zero)
        try transaction.removeDocument(StoreWorld.object(1), in: file)
        try transaction.removeDocuments(ofClass: "Task", in: file)
        try transaction.removeClientFile(FileIdent(77), in: file)
        // Only the bytes of a client file: its record does not change.
        let version = try transaction.file(file)?.currentVersion.rawValue ?? 0
        try transaction.append(
            [
                HistoryEntry(
                    version: SaltedServerVersion(
                        version: ServerVersion(version + 1),
                        salt: Salt(1)
                    ),
                    origin: FileIdent(88),
                    clientVersion: ClientVersion(1),
                    timestamp: OriginTimestamp(1),
                    changeset: [1],
                    cumulativeSizeInBytes: 1
                )
            ],
            to: file
        )
        _ = try transaction.usage(of: user, in: file)
        let empty = try transaction.makeFile(of: app, .int(77)).id
        try transaction.removeIfEmpty(empty, seenBefore: nil)
    }

    private static func useReads(_ file: ServerFileID, _ store: any FileReading) throws {
        let (app, user, ident) = (StoreWorld.app, StoreWorld.user, StoreWorld.ident)
        let next: (HistoryEntry) throws(StoreError) -> Visit = { _ in .next }
        guard let stored = try store.file(file) else { return }
        _ = try store.file(of: app, .int(5))
        _ = try store.files(of: app)
        _ = try store.clientFile(FileIdent(9), in: file)
        _ = try store.clientFiles(in: file)
        _ = try store.salt(of: ServerVersion(99), in: file)
        try store.forEachEntry(of: file, after: .zero, readBy: FileIdent(9), next)
        try store.forEachEntry(of: file, at: [ServerVersion(1)], readBy: FileIdent(9), next)
        try store.forEachSnapshotEntry(
            of: file,
            in: ServerVersion(3),
            at: [ServerVersion(100)],
            next
        )
        _ = try store.compensatingEntries(of: file, after: .zero, for: ident)
        _ = try store.privateSizeInBytes(of: file, after: .zero, for: ident)
        try store.forEachSnapshotEntry(
            of: file,
            in: ServerVersion(3),
            after: .zero,
            next
        )
        try store.forEachChangeset(of: file, in: .zero, after: .zero) { _, _ in .next }
        _ = try store.historySize(of: stored, after: .zero)
        _ = try store.sizeOfOthers(of: file, after: .zero, for: ident, limit: 9)
        _ = try store.documentSize(in: file)
        _ = try store.usage(of: user, in: file)
        _ = try store.historySize(of: user)
        _ = try store.emptyFiles(of: app, seenBefore: 5, after: nil, limit: 9)
        _ = try store.unidentifiedClientFiles(of: app, seenBefore: 9, limit: 9)
        _ = try store.reciprocals(for: ident, in: file, after: .zero)
        _ = try store.schema(of: file)
        _ = try store.document(StoreWorld.object(5), in: file)
        _ = try store.document(of: "Task", whose: "name", is: "x", in: file)
        _ = try store.objectCounts(in: file)
        try store.forEachDocument(of: "Task", in: file, after: nil) { _, _ in .next }
    }

    private func fill(_ world: StoreWorld, _ file: ServerFileID, _ count: Int) throws {
        try world.direct.execute(
            """
            INSERT INTO history SELECT f, v, 7, v % 3 + 2, v, 9, v * 10, CASE v % 7 WHEN 0 THEN 3
                ELSE 0 END, '\\x00112233445566778899' FROM generate_series(1, 20) f,
                generate_series(100, \(100 + count)) v ON CONFLICT DO NOTHING;
            INSERT INTO object SELECT f, 'Task', int8send(k), '{"name": "x"}'
                FROM generate_series(1, 20) f, generate_series(1, \(count)) k
                ON CONFLICT DO NOTHING;
            INSERT INTO client_file SELECT f, i, 1, 'u' || i, 0, 0, 0, 0, false, i % 3, 1
                FROM generate_series(1, 20) f, generate_series(100, \(100 + count)) i
                ON CONFLICT DO NOTHING;
            INSERT INTO reciprocal SELECT f, 2, v, '\\x00' FROM generate_series(1, 20) f,
                generate_series(100, \(100 + count)) v ON CONFLICT DO NOTHING;
            INSERT INTO snapshot SELECT f, 3, v, 1, '\\x00' FROM generate_series(1, 20) f,
                generate_series(100, \(100 + count)) v ON CONFLICT DO NOTHING;
            INSERT INTO server_file (app_id, partition) SELECT 'other', '"' || n || '"'
                FROM generate_series(1, \(count)) n ON CONFLICT DO NOTHING
            """
        )
    }

    /// The plan of each prepared statement of the connection that reads large tables.
    private static func plans(_ connection: Connection) throws -> [(sql: String, plan: String)] {
        try connection.execute("DISCARD PLANS")
        let rows = try connection.run(
            """
            SELECT statement, explain_prepared(name, cardinality(parameter_types))
            FROM pg_prepared_statements WHERE statement ~ '(SELECT|INSERT|UPDATE|DELETE)'
                AND statement !~ 'pg_prepared_statements'
            """
        )
        return try (0..<rows.count).map { (try rows.string($0, 0), try rows.string($0, 1)) }
    }

    /// Lines of a plan that read one of the large tables without the file, or the user, as a condition.
    static func scans(_ plan: String) -> [String] {
        let lines = plan.split(separator: "\n").map(String.init)
        let tables = ["history", "object", "client_file", "reciprocal", "snapshot"]
        return lines.indices.compactMap { index in
            let line = lines[index]
            guard tables.contains(where: { line.contains(" on \($0)") }) else { return nil }
            if line.contains("Tid Scan") || line.contains("Bitmap Heap Scan") { return nil }
            if ["Insert on", "Update on", "Delete on"].contains(where: line.contains) {
                return nil
            }
            let condition = lines[(index + 1)...].first { $0.contains("Index Cond:") }
            guard line.contains("Index"), let condition,
                ["file_id = ", "user_id = "].contains(where: condition.contains)
            else { return line }
            return nil
        }
    }

    @Test("No statement scans a large table, with empty, stale and fresh statistics")
    func plans() async throws {
        let world = try StoreWorld()
        let store = try await world.store(lanes: 1)
        let file = try await world.file(store)
        try world.direct.execute(
            """
            CREATE FUNCTION explain_prepared(name text, parameters int) RETURNS text
            LANGUAGE plpgsql AS $$ DECLARE line text; result text := '';
            BEGIN
                FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) EXECUTE %I%s', name,
                    CASE WHEN parameters > 0 THEN '(' || repeat('NULL,', parameters - 1) || 'NULL)'
                        ELSE '' END) LOOP
                    result := result || line || E'\\n';
                END LOOP;
                RETURN result;
            END $$
            """
        )
        try await store.write(.app(StoreWorld.app)) { try Self.useFiles(file, $0) }
        try await StoreWorld.upload([50], into: file, store)
        try await store.read { try Self.useReads(file, $0) }
        func check(_ statistics: String) async throws {
            let plans = try await store.withConnection { try Self.plans($0) }
            #expect(plans.count > 50)
            for (sql, plan) in plans {
                #expect(Self.scans(plan) == [], "\(statistics) statistics: \(sql)\n\(plan)")
            }
        }
        try await check("empty")
        try fill(world, file, 20)
        try world.direct.execute("ANALYZE")
        try fill(world, file, 3000)
        try await check("stale")
        try world.direct.execute("ANALYZE")
        try await check("fresh")
    }

    @Test("The check of plans finds a scan")
    func finder() {
        #expect(Self.scans("Seq Scan on history\n  Filter: (file_id = $1)").count == 1)
        #expect(Self.scans("Index Scan using k on object\n  Index Cond: (class = $1)").count == 1)
        #expect(Self.scans("Index Scan using k on object\n  Index Cond: (file_id = $1)").isEmpty)
    }
}
