import PostgreSQL
import PostgreSQLFixtures
import Testing

@Suite(
    "COPY",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct CopyTests {
    let database: TestDatabase
    let connection: Connection

    init() throws {
        database = try TestDatabase()
        connection = try database.connect()
        try connection.execute("CREATE TABLE t (n int8 PRIMARY KEY, k bytea, d jsonb, t text)")
    }

    private struct Stopped: Error {}

    private func row(_ number: Int) -> [Value] {
        [
            .integer(Int64(number)),
            .bytes([UInt8](repeating: UInt8(number % 256), count: number % 5)),
            .document(Array(#"{"n": \#(number)}"#.utf8)), .string(number % 2 == 0 ? nil : "ü"),
        ]
    }

    private func copy(_ count: Int) throws -> Int {
        var number = 0
        return try connection.copy(into: "t (n, k, d, t)") {
            guard number < count else { return nil }
            defer { number += 1 }
            return row(number)
        }
    }

    @Test("100 000 rows of each kind of value")
    func many() throws {
        #expect(try copy(100_000) == 100_000)
        let rows = try connection.run(
            """
            SELECT count(*), sum(n)::int8, sum((d->'n')::int8)::int8, sum(length(k))::int8, count(t)
            FROM t
            """
        )
        let sum = Int64(99_999 * 100_000 / 2)
        let expected = [100_000, sum, sum, 200_000, 50_000]
        for (column, number) in expected.enumerated() {
            #expect(try rows.integer(0, column) == number)
        }
    }

    @Test("No rows")
    func none() throws {
        #expect(try copy(0) == 0)
        #expect(connection.transaction == .none)
    }

    @Test("A row of 20 MiB")
    func large() throws {
        var rows: [[Value]] = [row(1)]
        rows[0][1] = .bytes([UInt8](repeating: 9, count: 20 << 20))
        #expect(try connection.copy(into: "t (n, k, d, t)") { rows.popLast() } == 1)
        #expect(try connection.run("SELECT length(k)::int8 FROM t").integer(0, 0) == 20 << 20)
    }

    @Test("A closure that throws leaves nothing behind, and its error comes through")
    func cancelled() throws {
        var number = 0
        #expect(throws: Stopped.self) {
            try connection.copy(into: "t (n, k, d, t)") {
                guard number < 50_000 else { throw Stopped() }
                number += 1
                return row(number)
            }
        }
        #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
        #expect(try copy(3) == 3)
    }

    @Test("A row that the server refuses leaves nothing behind, and the connection usable")
    func refused() throws {
        for wrong in [
            [Value.integer(7)], [.integer(0), .bytes([]), .document([0x7b]), .string("")],
        ] {
            var number = 0
            let error = try #require(throws: PostgreSQLError.self) {
                try connection.copy(into: "t (n, k, d, t)") {
                    number += 1
                    return number > 60_000 ? nil : number == 100 ? wrong : row(number)
                }
            }
            #expect(error.sqlState?.hasPrefix("22") == true)
            #expect(!error.connectionIsLost)
            #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
        }
    }

    @Test("A table that is missing is an error, and the connection stays usable")
    func missing() throws {
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.copy(into: "missing") { [] }
        }
        #expect(error.sqlState == "42P01")
        #expect(try copy(3) == 3)
    }

    @Test("It can be part of a transaction")
    func transaction() throws {
        try connection.run("BEGIN")
        #expect(try copy(10) == 10)
        try connection.run("ROLLBACK")
        #expect(try connection.run("SELECT count(*) FROM t").integer(0, 0) == 0)
    }
}
