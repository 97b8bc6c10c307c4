import PostgreSQL
import PostgreSQLFixtures
import TestSupport
import Testing

@Suite(
    "Values of each type, there and back",
    .enabled(
        if: PostgreSQLInstallation.isRequiredOrPresent,
        "\(PostgreSQLInstallation.absence)"
    )
)
struct RoundTripTests {
    let database: TestDatabase
    let connection: Connection

    init() throws {
        database = try TestDatabase()
        connection = try database.connect()
    }

    @Test("Integers")
    func integers() throws {
        for number in [0, 1, -1, .min, .max, 1 << 40] as [Int64] {
            let rows = try connection.run("SELECT $1, $1::text", [.integer(number)])
            #expect(try rows.integer(0, 0) == number)
            #expect(try rows.string(0, 1) == "\(number)")
        }
    }

    @Test("Narrow integers of the server are read, too")
    func narrowIntegers() throws {
        let rows = try connection.run("SELECT (-32768)::int2, (-2147483648)::int4")
        #expect(try rows.integer(0, 0) == -32_768)
        #expect(try rows.integer(0, 1) == -2_147_483_648)
    }

    @Test("Booleans")
    func booleans() throws {
        let rows = try connection.run("SELECT $1, $2, NOT $1", [.bool(true), .bool(false)])
        #expect(try [rows.bool(0, 0), rows.bool(0, 1), rows.bool(0, 2)] == [true, false, false])
    }

    @Test("Doubles keep each bit")
    func doubles() throws {
        let numbers = [
            0, -0.0, 1.5, .greatestFiniteMagnitude, .leastNonzeroMagnitude, .infinity, -.infinity,
            .nan, .pi,
        ]
        for number in numbers {
            let result = try connection.run("SELECT $1", [.real(number)]).real(0, 0)
            #expect(result.bitPattern == number.bitPattern)
        }
    }

    @Test("Text of any script and of no length")
    func texts() throws {
        for text in ["", "a", "é e\u{301} 😀 ﷽", "\u{1}\n\\'"] {
            let rows = try connection.run("SELECT $1, octet_length($1)", [.string(text)])
            #expect(Array(try rows.string(0, 0).utf8) == Array(text.utf8))
            #expect(try rows.bytes(0, 0) == Array(text.utf8))
            #expect(try rows.integer(0, 1) == Int64(text.utf8.count))
        }
    }

    @Test("Bytes of each value, and none")
    func bytes() throws {
        for content in [[], Array(UInt8.min...UInt8.max)] {
            let rows = try connection.run("SELECT $1, octet_length($1)", [.bytes(content)])
            #expect(try rows.bytes(0, 0) == content)
            #expect(try rows.integer(0, 1) == Int64(content.count))
        }
    }

    @Test("16 MiB of bytes")
    func manyBytes() throws {
        var random = SplitMix64(seed: 7)
        let content = (0..<1 << 21).flatMap { _ in
            withUnsafeBytes(of: random.next()) { Array($0) }
        }
        #expect(content.count == 16 << 20)
        let rows = try connection.run("SELECT $1, md5($1)", [.bytes(content)])
        #expect(try rows.withBytes(0, 0) { $0.elementsEqual(content) })
    }

    @Test("Documents come back as JSON text of the same value")
    func documents() throws {
        let document = #"{"b": [1, null, "\u00e9"], "a": 1.50}"#
        let rows = try connection.run("SELECT $1, $1->>'a'", [.document(Array(document.utf8))])
        let text = String(decoding: try rows.bytes(0, 0), as: UTF8.self)
        #expect(text == #"{"a": 1.50, "b": [1, null, "é"]}"#)
        #expect(try rows.string(0, 1) == "1.50")
    }

    @Test("NULL of each type")
    func nulls() throws {
        let values: [Value] = [
            .integer(nil), .bool(nil), .real(nil), .string(nil), .bytes(nil), .document(nil),
        ]
        let rows = try connection.run("SELECT $1, $2, $3, $4, $5, $6", values)
        for column in 0..<6 { #expect(try rows.isNull(0, column)) }
        #expect(throws: PostgreSQLError.self) { try rows.integer(0, 0) }
    }

    @Test("Arrays of each type, with NULLs and without elements")
    func arrays() throws {
        let integers: [Int64?] = [.min, nil, .max]
        let texts: [[UInt8]?] = [Array("ä".utf8), nil, []]
        let bytes: [[UInt8]?] = [[0, 255], nil, []]
        let documents: [[UInt8]?] = [Array("{}".utf8), nil, Array("[1]".utf8)]
        let sql: StaticString = "SELECT $1, $2, $3, $4, cardinality($1), cardinality($4)"
        var rows = try connection.run(
            sql,
            [.integers(integers), .texts(texts), .byteStrings(bytes), .documents(documents)]
        )
        #expect(try rows.integers(0, 0) == integers)
        #expect(try rows.texts(0, 1) == texts)
        #expect(try rows.byteStrings(0, 2) == bytes)
        #expect(try rows.documents(0, 3) == documents)
        #expect(try rows.integer(0, 4) == 3)
        rows = try connection.run(
            sql,
            [.integers([]), .texts([]), .byteStrings([]), .documents([])]
        )
        #expect(try rows.integers(0, 0) == [])
        #expect(try rows.texts(0, 1) == [])
        #expect(try rows.byteStrings(0, 2) == [])
        #expect(try rows.documents(0, 3) == [])
        #expect(try rows.integer(0, 5) == 0)
    }

    @Test("Arrays are what unnest() reads, 1 000 rows in one step")
    func unnest() throws {
        try connection.execute("CREATE TABLE t (k bytea PRIMARY KEY, d jsonb)")
        let keys = (0..<1000).map { [UInt8($0 / 256), UInt8($0 % 256)] }
        let rows = try connection.run(
            "INSERT INTO t SELECT * FROM unnest($1::bytea[], $2::jsonb[])",
            [.byteStrings(keys), .documents(keys.map { Array("\($0)".utf8) })]
        )
        #expect(rows.changes == 1000)
        let sum = try connection.run("SELECT sum((d->1)::int8)::int8 FROM t").integer(0, 0)
        #expect(sum == Int64(keys.map { Int($0[1]) }.reduce(0, +)))
    }

    @Test("U+0000 is refused as text and as a document, and accepted as bytes")
    func zero() throws {
        let text = try #require(throws: PostgreSQLError.self) {
            try connection.run("SELECT $1", [.text([65, 0])])
        }
        #expect(text.sqlState == "22021")
        #expect(text.condition == .unacceptable)
        let document = try #require(throws: PostgreSQLError.self) {
            try connection.run("SELECT $1", [.document(Array(#"{"a": "\u0000"}"#.utf8))])
        }
        #expect(document.sqlState == "22P05")
        #expect(document.condition == .unacceptable)
        #expect(try connection.run("SELECT $1", [.bytes([65, 0])]).bytes(0, 0) == [65, 0])
    }

    @Test("An error does not quote the refused value")
    func refusedValue() throws {
        for value in ["secret-4711", "{secret-4711"] {
            let error = try #require(throws: PostgreSQLError.self) {
                try connection.run("SELECT $1::text::int8", [.string(value)])
            }
            #expect(error.sqlState == "22P02")
            #expect(!"\(error)".contains("4711"))
        }
        try connection.execute("CREATE TABLE t (v text CONSTRAINT one_of_each UNIQUE)")
        let insert: StaticString = "INSERT INTO t VALUES ($1)"
        _ = try connection.run(insert, [.string("secret-4711")])
        let error = try #require(throws: PostgreSQLError.self) {
            try connection.run(insert, [.string("secret-4711")])
        }
        #expect(error.condition == .constraint)
        #expect(error.constraint == "one_of_each")
        #expect(!"\(error)".contains("4711"))
    }

    @Test("Columns of other types, NULL and places outside the table throw")
    func unexpectedTypes() throws {
        let rows = try connection.run("SELECT 1::int8, 'a'::text, '{1}'::int8[], 1.5::numeric")
        #expect(throws: PostgreSQLError.self) { try rows.integer(0, 1) }
        #expect(throws: PostgreSQLError.self) { try rows.integer(0, 3) }
        #expect(throws: PostgreSQLError.self) { try rows.string(0, 0) }
        #expect(throws: PostgreSQLError.self) { try rows.bytes(0, 0) }
        #expect(throws: PostgreSQLError.self) { try rows.texts(0, 2) }
        #expect(throws: PostgreSQLError.self) { try rows.integer(0, 4) }
        #expect(throws: PostgreSQLError.self) { try rows.integer(1, 0) }
        #expect(throws: PostgreSQLError.self) { try rows.integer(-1, -1) }
        #expect(try rows.integers(0, 2) == [1])
    }

    @Test("Arrays of two dimensions throw, and a lower bound other than 1 does not")
    func strangeArrays() throws {
        let rows = try connection.run("SELECT '{{1,2},{3,4}}'::int8[], '[5:6]={1,2}'::int8[]")
        #expect(throws: PostgreSQLError.self) { try rows.integers(0, 0) }
        #expect(try rows.integers(0, 1) == [1, 2])
    }
}
