import FoundationEssentials
import Plugins
import SQLite
import TestSupport
import Testing

@testable import Agent

@Suite("Copies of realms for handlers")
struct RealmCopiesTests {
    let temporary: TemporaryDirectory

    init() throws {
        self.temporary = try TemporaryDirectory()
    }

    @Test("A copy is whole, also while a writer is in the middle of a transaction")
    func copy() async throws {
        let path = temporary.file("stock.sqlite")
        let writer = try Connection(path: path)
        try writer.execute(
            """
            PRAGMA journal_mode = WAL; CREATE TABLE t(x); INSERT INTO t VALUES (1);
            BEGIN IMMEDIATE; INSERT INTO t VALUES (2);
            """
        )
        let destination = temporary.file("copies/of/stock.sqlite")
        try await HandlerRealmFiles().copy(realmAt: path, to: destination)
        try writer.execute("COMMIT")
        let copy = try Connection(path: destination, .init(mode: .readOnly))
        #expect(try copy.integer("SELECT count(*) FROM t") == 1)
    }

    @Test("An error of writing names the path and a remedy")
    func failure() async throws {
        let path = temporary.file("stock.sqlite")
        try Connection(path: path).execute("CREATE TABLE t(x)")
        let place = "\(path)/below/a/file.sqlite"
        do throws(RealmFilesFailure) {
            try await HandlerRealmFiles().copy(realmAt: path, to: place)
            Issue.record("a file is not a directory")
        } catch {
            #expect(error.reason.hasPrefix("\(place) cannot be written: "))
            #expect(error.reason.hasSuffix("(ReadWritePaths= in the unit)"))
        }
    }
}
