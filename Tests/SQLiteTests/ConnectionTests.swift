import FoundationEssentials
import SQLite
import TestSupport
import Testing

@Suite("SQLite connections")
struct ConnectionTests {
    let directory: TemporaryDirectory
    let connection: Connection

    init() throws {
        directory = try TemporaryDirectory()
        connection = try Connection(path: directory.file("test.sqlite"))
    }

    @Test("Values of every storage class read back unchanged")
    func roundTrip() throws {
        try connection.execute("CREATE TABLE t(v ANY) STRICT")
        let values: [SQLiteValue] = [
            nil, 0, -1, .integer(.max), .integer(.min), 1.5, .real(-0.0), "", "zürich", "a\u{0}b",
            .blob([]), .blob([0, 255]), .text(String(repeating: "x", count: 100_000)),
        ]
        for value in values {
            try connection.run("INSERT INTO t VALUES (?)", [value])
        }
        #expect(try connection.rows("SELECT v FROM t ORDER BY rowid") == values.map { [$0] })
    }

    @Test("A file that cannot be opened is reported with the reason of the system")
    func unopenable() throws {
        let absent = directory.file("no such directory") + "/test.sqlite"
        let error = #expect(throws: SQLiteError.self) { try Connection(path: absent) }
        #expect(error?.condition == .cannotOpen)
        #expect(error?.message.hasSuffix(": No such file or directory") == true)
    }

    @Test("A reset statement has no bindings, and can run again")
    func rebinding() throws {
        let statement = try connection.prepare("SELECT ?1, ?2")
        try statement.bind("first", at: 1)
        try statement.bind("second", at: 2)
        #expect(try statement.step())
        #expect(statement.row == ["first", "second"])
        statement.reset()
        try statement.bind("third", at: 2)
        #expect(try statement.step())
        #expect(statement.row == [nil, "third"])
    }

    @Test("Bound bytes keep their address while the statement runs, in any number")
    func arena() throws {
        let statement = try connection.prepare("SELECT ?1, ?2, ?3, ?4")
        for length in [0, 1, 4000, 5000, 2_000_000, 3] {
            let texts = (0..<4).map { Array(repeating: UInt8(97 + $0), count: length) }
            for (index, text) in texts.enumerated() {
                try statement.bind(text: text, at: index + 1)
            }
            #expect(try statement.step())
            #expect((0..<4).map { statement.bytes(at: $0) } == texts)
            #expect((0..<4).allSatisfy { statement.storageClass(at: $0) == .text })
            statement.reset()
        }
    }

    @Test("Bytes are bound where they are, and forgotten if the statement never ran")
    func bindingInPlace() throws {
        let statement = try connection.prepare("SELECT ?1, ?2, ?3")
        for bytes: [UInt8] in [[], Array("a\u{0}b".utf8), [0xff, 0xfe]] {
            try bytes.withUnsafeBytes { bytes in
                try statement.bind(textInPlace: bytes, at: 1)
                try statement.bind(blobInPlace: bytes, at: 2)
                try statement.bindText(at: 3, capacity: 40) { room in
                    room.copyBytes(from: bytes)
                    return bytes.count
                }
                #expect(try statement.step())
                #expect((0..<3).map { statement.storageClass(at: $0) } == [.text, .blob, .text])
                #expect((0..<3).allSatisfy { statement.bytes(at: $0) == Array(bytes) })
            }
            statement.reset()
        }
        let bind: [(UnsafeRawBufferPointer) throws -> Void] = [
            { try statement.bind(textInPlace: $0, at: 1) },
            { try statement.bind(blobInPlace: $0, at: 2) },
            { _ in try statement.bindText(at: 3, capacity: 1) { _ in 1 } },
        ]
        for bind in bind {
            try withUnsafeBytes(of: 7) { try bind($0) }
            statement.reset()
            #expect(try statement.step())
            #expect(statement.row == [nil, nil, nil])
            statement.reset()
        }
    }

    @Test("A transaction that throws changes nothing")
    func rollback() throws {
        struct Failure: Error {}
        try connection.execute("CREATE TABLE t(v)")
        #expect(throws: Failure.self) {
            try connection.transaction {
                try connection.run("INSERT INTO t VALUES (1)")
                throw Failure()
            }
        }
        #expect(try connection.integer("SELECT count(*) FROM t") == 0)
        #expect(!connection.isInTransaction)
    }

    @Test("A savepoint that throws undoes only its own part")
    func savepoint() throws {
        struct Failure: Error {}
        try connection.execute("CREATE TABLE t(v)")
        try connection.transaction {
            try connection.run("INSERT INTO t VALUES (1)")
            #expect(throws: Failure.self) {
                try connection.savepoint("inner") {
                    try connection.run("INSERT INTO t VALUES (2)")
                    throw Failure()
                }
            }
            #expect(connection.isInTransaction)
        }
        #expect(try connection.rows("SELECT v FROM t") == [[1]])
    }

    @Test("An index of the log that cannot grow is a full disk; other failures to write are not")
    func fullDisk() {
        // SQLITE_IOERR_SHMSIZE and SQLITE_IOERR_WRITE.
        #expect(SQLiteError(extendedCode: 4874, message: "").condition == .diskFull)
        #expect(SQLiteError(extendedCode: 778, message: "").condition == .inputOutput)
    }

    @Test("Errors carry the condition, the message and the statement, but no value")
    func errors() throws {
        try connection.execute("CREATE TABLE t(v INTEGER CONSTRAINT \"v must be 1\" CHECK (v = 1))")
        let error = try #require(throws: SQLiteError.self) {
            try connection.run("INSERT INTO t VALUES (?)", [4711])
        }
        #expect(error.condition == .constraint)
        #expect(error.message == "CHECK constraint failed: v must be 1")
        #expect(error.sql == "INSERT INTO t VALUES (?)")
        #expect(!"\(error)".contains("4711"))

        let syntax = try #require(throws: SQLiteError.self) { try connection.execute("SELEKT") }
        #expect(syntax.condition == .other)
        #expect(syntax.message.contains("syntax error"))
    }

    @Test("A file that is not a database fails at the first read")
    func notADatabase() throws {
        let path = directory.file("garbage")
        let garbage = Data(repeating: 0x21, count: 5000)
        try garbage.write(to: URL(filePath: path))
        let other = try Connection(path: path)
        let error = try #require(throws: SQLiteError.self) {
            try other.integer("PRAGMA schema_version")
        }
        #expect(error.condition == .notADatabase)
        #expect(try Data(contentsOf: URL(filePath: path)) == garbage)
    }

    @Test("A lock held elsewhere is reported as busy after the timeout")
    func busy() throws {
        try connection.execute("CREATE TABLE t(v)")
        try connection.execute("BEGIN IMMEDIATE")
        let other = try Connection(path: connection.path, .init(busyTimeout: .zero))
        let error = try #require(throws: SQLiteError.self) {
            try other.transaction(.immediate) {}
        }
        #expect(error.condition == .busy)
    }

    @Test("Disabled triggers do not run on this connection only")
    func triggers() throws {
        try connection.execute(
            """
            CREATE TABLE t(v); CREATE TABLE log(v);
            CREATE TRIGGER capture AFTER INSERT ON t BEGIN INSERT INTO log VALUES (NEW.v); END;
            """
        )
        let silent = try Connection(path: connection.path)
        try silent.setTriggersEnabled(false)
        try silent.run("INSERT INTO t VALUES (1)")
        try connection.run("INSERT INTO t VALUES (2)")
        #expect(try connection.rows("SELECT v FROM log") == [[2]])
    }

    @Test("A checkpoint empties the write-ahead log unless a reader blocks it")
    func checkpoint() throws {
        try connection.execute("PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0")
        try connection.execute("CREATE TABLE t(v); INSERT INTO t VALUES (1)")
        let reader = try Connection(path: connection.path, .init(mode: .readOnly))
        try reader.transaction(.deferred) {
            _ = try reader.row("SELECT v FROM t")
            try connection.run("INSERT INTO t VALUES (2)")
            #expect(try connection.checkpoint(.passive) == false)
        }
        let truncating = try Connection(path: connection.path, .init(busyTimeout: .zero))
        #expect(try truncating.checkpoint(.truncate))
        let size = try FileManager.default.attributesOfItem(atPath: connection.path + "-wal")[.size]
        #expect("\(size ?? "absent")" == "0")
    }

    @Test("A connection that is told so leaves the log alone, even if it is closed last")
    func closingLast() throws {
        try connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(v)")
        let last = try Connection(path: connection.path)
        try last.setCheckpointOnClose(false)
        _ = try last.integer("SELECT count(*) FROM t")
        connection.close()
        last.close()
        #expect(FileManager.default.fileExists(atPath: connection.path + "-wal"))
        let next = try Connection(path: connection.path)
        #expect(try next.integer("SELECT count(*) FROM t") == 0)
        next.close()
        #expect(!FileManager.default.fileExists(atPath: connection.path + "-wal"))
    }

    @Test("Identifiers of any content are quoted")
    func quoting() throws {
        let name = #"a "strange" name; DROP TABLE t"#
        try connection.execute("CREATE TABLE \(Connection.quoted(name))(v)")
        #expect(try connection.rows("SELECT name FROM sqlite_schema") == [[.text(name)]])
    }

    @Test("Statements keep working until they end, even if their connection is closed")
    func closing() throws {
        let statement = try connection.prepare("SELECT 1")
        connection.close()
        #expect(try statement.step())
        #expect(throws: SQLiteError.self) { try connection.prepare("SELECT 1") }
    }
}
