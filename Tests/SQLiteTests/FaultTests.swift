import FaultInjection
import Glibc
import SQLite
import TestSupport
import Testing

@Suite("A file layer that fails when told to")
struct FaultTests {
    let directory: TemporaryDirectory
    let files = FaultyFiles()

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open(_ vfs: String?) throws -> Connection {
        let connection = try Connection(path: directory.file("test.sqlite"), .init(vfs: vfs))
        try connection.execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE IF NOT EXISTS t(v)"
        )
        return connection
    }

    @Test("Without a fault it counts and changes nothing else")
    func counts() throws {
        let connection = try open(files.name)
        files.heal()
        try connection.run("INSERT INTO t VALUES (1)")
        #expect(files.changes > 1)
        #expect(files.syncs == 1)
        #expect(try open(nil).rows("SELECT v FROM t") == [[1]])
    }

    @Test(
        "An error or a full disk at any write undoes that transaction, and the next one works",
        arguments: [FaultyFiles.Fault.error, .shortWrite, .diskFull]
    )
    func failures(fault: FaultyFiles.Fault) throws {
        let connection = try open(files.name)
        try connection.run("INSERT INTO t VALUES (0)")
        files.heal()
        try connection.run("INSERT INTO t VALUES (0)")
        // The last change is the sync, which a full disk does not stop.
        let changes = files.changes - (fault == .diskFull ? 1 : 0)
        for change in 1...changes {
            files.arm(fault, at: change)
            let error = try #require(throws: SQLiteError.self, "change \(change)") {
                try connection.transaction { try connection.run("INSERT INTO t VALUES (1)") }
            }
            #expect([.inputOutput, .diskFull].contains(error.condition), "change \(change)")
            files.heal()
            #expect(try connection.integer("SELECT count(*) FROM t WHERE v = 1") == 0)
            try connection.run("INSERT INTO t VALUES (2)")
        }
        #expect(
            try open(nil).integer("SELECT count(*) FROM t WHERE v = 2") == Int64(changes)
        )
        #expect(try open(nil).rows("PRAGMA integrity_check") == [["ok"]])
    }

    @Test("A frozen layer is like the death of the process: only committed data stays")
    func freeze() throws {
        _ = try open(nil)
        for change in 1...12 {
            let files = FaultyFiles()
            let connection = try open(files.name)
            let before = try connection.integer("SELECT count(*) FROM t") ?? 0
            files.arm(.freeze, at: change)
            var committed = before
            for _ in 0..<8 {
                guard (try? connection.run("INSERT INTO t VALUES (1)")) != nil else { break }
                committed += 1
            }
            connection.close()
            let after = try open(nil).integer("SELECT count(*) FROM t") ?? 0
            // The failed commit may have been complete except for its sync.
            #expect(after == committed || after == committed + 1, "change \(change)")
        }
    }

    @Test("A kill ends the process in the middle of its write, and the file stays valid")
    func kill() async throws {
        let path = directory.file("test.sqlite")
        _ = try open(nil)
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            let files = FaultyFiles()
            let connection = try Connection(path: path, .init(vfs: files.name))
            try connection.run("INSERT INTO t VALUES (1)")
            files.arm(.tornKill, at: 2)
            try connection.run("INSERT INTO t VALUES (2)")
        }
        #expect(try open(nil).rows("SELECT v FROM t") == [[1]])
        #expect(try open(nil).rows("PRAGMA integrity_check") == [["ok"]])
    }
}
