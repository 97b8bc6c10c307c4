import PostgreSQL
import PostgreSQLFixtures
import ServerStore
import Testing
import Versions

@testable import PostgreSQLServerStore

@Suite(
    "The guard, on the tables",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct SessionGuardRowsTests {
    let database: TestDatabase
    let connection: Connection

    init() throws {
        database = try TestDatabase()
        var target = database.target()
        target.schema = "realm"
        connection = try Connection(target, deadline: .after(.seconds(60)))
        _ = try PostgreSQLLayout.prepare(connection, schema: "realm")
        try connection.execute(
            """
            INSERT INTO server_file (app_id, partition, current_version, base_version, base_version_salt)
            VALUES ('shop', '', 105, 100, 7);
            INSERT INTO client_file VALUES (1, 2, 3, 'u', 0, 40, 0, 0, false, 5, 0);
            INSERT INTO history
            SELECT 1, v, v * 10, 2, v, 0, 0, 0, '' FROM generate_series(101, 105) v
            """
        )
    }

    private func guardOf(version: UInt64, salt: UInt64, ident: UInt64 = 2) -> SessionGuard {
        SessionGuard(
            client: ClientFileID(file: ServerFileID(1), ident: FileIdent(ident)),
            generation: 0,
            clientVersion: ClientVersion(40),
            sessionEpoch: 5,
            newest: SaltedServerVersion(version: ServerVersion(version), salt: Salt(salt))
        )
    }

    private func verdict(_ told: SessionGuard) throws -> SessionGuard.Verdict {
        let rows = try connection.pipeline([told.step])
        return told.verdict(on: try SessionGuard.Stored(rows[0]))
    }

    @Test("It reads what it compares")
    func verdicts() throws {
        #expect(try verdict(guardOf(version: 105, salt: 1050)) == .unchanged)
        #expect(try verdict(guardOf(version: 100, salt: 7)) == .unchanged)
        #expect(try verdict(guardOf(version: 105, salt: 1)) == .changed(.otherHistory))
        #expect(try verdict(guardOf(version: 99, salt: 1)) == .changed(.trimmed))
        #expect(try verdict(guardOf(version: 106, salt: 1)) == .changed(.lostVersions))
        #expect(
            try verdict(guardOf(version: 105, salt: 1050, ident: 3)) == .changed(.clientFileIsGone)
        )
        try connection.execute("UPDATE client_file SET client_version = 39")
        #expect(try verdict(guardOf(version: 105, salt: 1050)) == .changed(.lostUploads))
        try connection.execute("UPDATE client_file SET client_version = 40, session_epoch = 6")
        #expect(try verdict(guardOf(version: 105, salt: 1050)) == .changed(.otherEpoch))
        try connection.execute("UPDATE server_file SET generation = 1")
        #expect(try verdict(guardOf(version: 105, salt: 1050)) == .unchanged)
    }

    @Test("Salts and versions up to 2^63 - 1 survive")
    func largeNumbers() throws {
        let most = UInt64(Int64.max)
        try connection.execute(
            """
            UPDATE server_file SET current_version = 9223372036854775807;
            INSERT INTO history VALUES
                (1, 9223372036854775807, 9223372036854775807, 2, 0, 0, 0, 0, '')
            """
        )
        #expect(try verdict(guardOf(version: most, salt: most)) == .unchanged)
    }

    @Test("It finds its rows by their keys, with empty, fresh and old statistics")
    func plans() throws {
        let step = guardOf(version: 105, salt: 1).step
        try connection.execute("PREPARE guard (int8, int8, int8) AS \(step.text.sql)")
        func scans() throws -> [String] {
            let plan = try connection.run("EXPLAIN EXECUTE guard (1, 2, 105)")
            return try (0..<plan.count).map { try plan.string($0, 0) }.filter {
                $0.contains("Seq Scan")
            }
        }
        #expect(try scans() == [])
        try connection.execute("TRUNCATE history, client_file, server_file; ANALYZE")
        try connection.execute(
            """
            INSERT INTO history SELECT f, v, v * 10, 2, v, 0, 0, 0, ''
            FROM generate_series(1, 20) f, generate_series(1, 1000) v;
            INSERT INTO client_file SELECT f, i, 3, 'u', 0, 40, 0, 0, false, 5, 0
            FROM generate_series(1, 20) f, generate_series(2, 400) i;
            INSERT INTO server_file (app_id, partition) SELECT 'shop', p::text
            FROM generate_series(1, 2000) p
            """
        )
        #expect(try scans() == [])
        try connection.execute("ANALYZE")
        #expect(try scans() == [])
    }

    @Test("A pool refuses a database whose tables are gone, or another store")
    func laneCheck() async throws {
        let storeID = try PostgreSQLLayout.prepare(connection, schema: "realm").storeID
        var target = database.target()
        target.schema = "realm"
        let lanes = try Lanes(
            target,
            check: PostgreSQLLayout.laneCheck(schema: "realm", storeID: storeID)
        )
        #expect(try await lanes.perform { try $0.run("SELECT 1::int8").integer(0, 0) } == 1)
        try connection.execute("UPDATE layout SET store_id = gen_random_uuid()")
        // A connection that is there has passed the check.
        #expect(try await lanes.perform { try $0.run("SELECT 1::int8").integer(0, 0) } == 1)
        try connection.execute(
            """
            SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()
            """
        )
        await #expect(throws: LaneFailure.unusable(.otherStore)) {
            try await lanes.perform { _ in }
        }
        try connection.execute("DROP SCHEMA realm CASCADE")
        await #expect(throws: LaneFailure.unusable(.tablesAreGone)) {
            try await lanes.perform { _ in }
        }
        await lanes.close(within: .seconds(60))
    }
}
