import Changesets
import Documents
import FaultInjection
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// Downloads whose merge exceeds the limit of one transaction.
@Suite("A merge that is too large for one transaction is done in several")
struct MergeSliceTests {
    private static let schema = RealmSchema([
        ClassSchema(
            name: "Doc",
            kind: .topLevel(.int),
            properties: [
                PropertySchema(name: "l", type: .int, isNullable: false, collection: .list)
            ]
        )
    ])

    private static let count: UInt64 = 12

    /// A realm with a list that both it and others have changed since they last met.
    private static func prepare(_ path: String, limit: Int) throws {
        let realm = try open(path, limit: limit)
        defer { realm.close() }
        _ = try realm.drain()
        try realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9)))
        let creation = RealmFixture.download(1) { $0.createObject(.init("Doc", 1)) }
        _ = try realm.integrate(
            [creation],
            progress: RealmFixture.progress(1),
            downloadableBytes: 0
        )
        let program = try Connection(path: path)
        for value in 1...4 {
            try program.execute("UPDATE Doc SET l = json_insert(l, '$[#]', \(value))")
            _ = try realm.drain()
        }
    }

    private static func open(
        _ path: String,
        limit: Int,
        vfs: String? = nil
    ) throws(LocalRealmError) -> RealmFile {
        try RealmFixture.open(path, schema, vfs: vfs) { $0.mergeLimitInPairs = limit }
    }

    private static let downloads = (0..<count).map { number in
        RealmFixture.download(number + 2, timestamp: 1 << 60) { writer in
            writer.arrayInsert(
                .init("Doc", 1),
                "l",
                path: [.index(0)],
                .scalar(.int(100 + Int64(number))),
                priorSize: UInt32(number)
            )
        }
    }

    private static let progress = RealmFixture.progress(count + 1)

    /// The server's messages to a client that has a part of the history.
    private static func download(after cursor: DownloadCursor) -> ParsedDownload {
        ParsedDownload(
            downloads.filter { $0.cursor.serverVersion > cursor.serverVersion },
            progress: progress,
            downloadableBytes: 0
        )
    }

    /// Integrates the rest; returns the number of transactions.
    @discardableResult
    private static func finish(_ realm: RealmFile) throws -> Int {
        var part: ParsedDownload? = download(after: realm.status.progress.download)
        var transactions = 0
        while let current = part {
            part = current.rest(after: try realm.integrate(current))
            transactions += 1
        }
        return transactions
    }

    /// The rows, and our changesets as transformed over theirs.
    private static func contents(_ path: String) throws -> [[SQLiteValue]] {
        let connection = try Connection(path: path)
        return try connection.rows("SELECT * FROM Doc")
            + connection.rows(
                """
                SELECT version, coalesce(reciprocal, changeset) FROM _realm_history
                WHERE size > 0 ORDER BY version
                """
            )
            + connection.rows("SELECT download_server_version, downloaded_bytes FROM _realm_state")
    }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func whole() throws -> [[SQLiteValue]] {
        let path = directory.file("whole.sqlite")
        try Self.prepare(path, limit: .max)
        let realm = try Self.open(path, limit: .max)
        defer { realm.close() }
        #expect(try Self.finish(realm) == 1)
        return try Self.contents(path)
    }

    @Test("All limits give the same, even one below every changeset", arguments: [0, 5, 16, 47])
    func equality(limit: Int) throws {
        let path = directory.file("sliced.sqlite")
        try Self.prepare(path, limit: limit)
        let realm = try Self.open(path, limit: limit)
        defer { realm.close() }
        let transactions = try Self.finish(realm)
        #expect((2...Int(Self.count)).contains(transactions))
        if limit == 0 { #expect(transactions == Int(Self.count)) }
        #expect(realm.status.progress == Self.progress)
        #expect(try Self.contents(path) == whole())
    }

    @Test("The cursor is behind the integrated part, also after a crash")
    func cursor() throws {
        let path = directory.file("sliced.sqlite")
        try Self.prepare(path, limit: 8)
        var realm = try Self.open(path, limit: 8)
        let report = try realm.integrate(Self.download(after: .zero))
        let (done, left) = (report.integratedChangesetCount, report.remainingChangesetCount)
        #expect(done > 0 && left > 0 && done + left == Int(Self.count))
        let cursor = realm.status.progress.download
        #expect(cursor == Self.downloads[done - 1].cursor)
        realm.close()
        // Another program writes before the agent is back.
        try Connection(path: path).execute("INSERT INTO Doc(_id) VALUES (2)")
        realm = try Self.open(path, limit: 8)
        #expect(realm.status.progress.download == cursor)
        try Self.finish(realm)
        #expect(realm.status.progress == Self.progress)
        realm.close()
        let lists = try Connection(path: path).rows("SELECT l FROM Doc ORDER BY _id")
        #expect(try lists == [Array(whole()[0].dropFirst()), [.text("[]")]])
    }

    @Test("A file layer that freezes at any write leaves a state that can be continued")
    func crashes() throws {
        let expected = try whole()
        let healthy = directory.file("healthy.sqlite")
        try Self.prepare(healthy, limit: 20)
        let files = FaultyFiles()
        let realm = try Self.open(healthy, limit: 20, vfs: files.name)
        files.heal()
        try Self.finish(realm)
        realm.close()
        var cursors: Set<UInt64> = []
        for change in 1...files.changes {
            let path = directory.file("frozen-\(change).sqlite")
            try Self.prepare(path, limit: 20)
            let files = FaultyFiles()
            let frozen = try Self.open(path, limit: 20, vfs: files.name)
            files.arm(.freeze, at: change)
            _ = try? Self.finish(frozen)
            frozen.close()
            let realm = try Self.open(path, limit: 20)
            let version = realm.status.progress.download.serverVersion
            cursors.insert(version.rawValue)
            if version < Self.progress.download.serverVersion { try Self.finish(realm) }
            realm.close()
            #expect(try Self.contents(path) == expected, "frozen at change \(change)")
        }
        // Some crashes came between two transactions.
        #expect(cursors.count > 2)
    }

    @Test("A changeset that does not fit is refused; those of earlier transactions stay")
    func refusal() throws {
        let path = directory.file("sliced.sqlite")
        try Self.prepare(path, limit: 0)
        let realm = try Self.open(path, limit: 0)
        defer { realm.close() }
        let bad = RealmFixture.download(Self.count + 1) { writer in
            writer.arrayErase(.init("Doc", 1), "l", path: [.index(70)], priorSize: 71)
        }
        var download = ParsedDownload(
            Self.downloads.dropLast() + [bad],
            progress: Self.progress,
            downloadableBytes: 0
        )
        for _ in 1..<Self.count {
            download = try #require(download.rest(after: try realm.integrate(download)))
        }
        let error = #expect(throws: LocalRealmError.self) { try realm.integrate(download) }
        #expect(error?.kind == .badChangeset)
        #expect(realm.status.progress.download.serverVersion == ServerVersion(Self.count))
    }
}
