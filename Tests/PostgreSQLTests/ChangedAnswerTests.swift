import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite(
    "Answers that a changed byte makes wrong",
    .serialized,
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct ChangedAnswerTests {
    @Test("Each changed byte of an answer gives an error or values, within the deadline")
    func changedBytes() throws {
        let database = try TestDatabase()
        let proxy = try FaultProxy(to: database.server.port)
        defer { proxy.stop() }
        let steps = [
            Step("SELECT $1, 7::int8, ARRAY[1, NULL]::int8[]", [.integer(1)]),
            Step("SELECT '{}'::jsonb, ARRAY['a']::text[], true, 1.5::float8"),
        ]
        func read(_ connection: Connection) throws {
            let rows = try connection.pipeline(steps, deadline: .after(.milliseconds(200)))
            guard rows.count == 2 else { return }
            _ = try? (rows[0].integer(0, 0), rows[0].integer(0, 1), rows[0].integers(0, 2))
            _ = try? (rows[1].bytes(0, 0), rows[1].texts(0, 1), rows[1].bool(0, 2))
            _ = try? rows[1].real(0, 3)
        }
        let whole = try Connection(database.target(proxy.host), deadline: .after(.seconds(60)))
        proxy.arm(.none)
        try read(whole)
        let size = proxy.counts.toClient
        #expect(size > 100)
        var outcomes = (values: 0, errors: 0)
        for position in 0..<size {
            proxy.arm(.none)
            let connection = try Connection(
                database.target(proxy.host),
                deadline: .after(.seconds(60))
            )
            proxy.arm(.replace(at: position, with: position.isMultiple(of: 2) ? 0xff : 0x44))
            do {
                try read(connection)
                outcomes.values += 1
            } catch {
                #expect(error is PostgreSQLError)
                outcomes.errors += 1
            }
        }
        #expect(outcomes.values > 0)
        #expect(outcomes.errors > 0)
    }
}
