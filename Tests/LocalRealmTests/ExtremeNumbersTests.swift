import Changesets
import ClientReset
import FoundationEssentials
import Glibc
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// A realm file in which a program, or a damaged disk, has changed values that only the agent
/// writes.
@Suite("Extreme numbers in the agent's tables crash nothing")
struct ExtremeNumbersTests {
    /// All kinds of data in three classes: history, a log of several groups, links, rejected
    /// values.
    private static func prepare(_ path: String, _ schema: RealmSchema) throws {
        let realm = try RealmFixture.open(path, schema)
        defer { realm.close() }
        try realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9)))
        let program = try Connection(path: path)
        defer { program.close() }
        for key in 1...3 {
            try program.execute(
                "INSERT INTO Person(_id, name) VALUES (\(key), 'p'); INSERT INTO Item(_id, owner, "
                    + "list) VALUES (\(key), \(key), '[1,2]'); "
                    + "UPDATE _realm_capture SET at = at - 100000"
            )
            _ = try realm.drain()
        }
        try program.execute(
            """
            PRAGMA ignore_check_constraints = ON;
            UPDATE Item SET done = 7;
            DELETE FROM Person WHERE _id = 1;
            UPDATE _realm_capture SET at = at - 1000 * (10 - seq % 10)
            """
        )
        _ = try realm.drain()
        try program.execute(
            """
            PRAGMA ignore_check_constraints = OFF;
            UPDATE Item SET count = 1; UPDATE Item SET list = '[]' WHERE _id = 3;
            INSERT INTO Item(_id) VALUES (9); DELETE FROM Person WHERE _id = 2;
            UPDATE _realm_capture SET at = at - 20000 * (10 - seq % 10)
            """
        )
    }

    private static let schema: RealmSchema = {
        let key = PrimaryKeySchema.int
        return RealmSchema([
            ClassSchema(
                name: "Person",
                kind: .topLevel(key),
                properties: [PropertySchema(name: "name", type: .string, isNullable: true)]
            ),
            ClassSchema(
                name: "Item",
                kind: .topLevel(key),
                properties: [
                    PropertySchema(name: "count", type: .int, isNullable: true),
                    PropertySchema(name: "done", type: .bool, isNullable: true),
                    PropertySchema(
                        name: "owner",
                        type: .link(target: "Person"),
                        isNullable: true
                    ),
                    PropertySchema(
                        name: "list",
                        type: .int,
                        isNullable: false,
                        collection: .list
                    ),
                ]
            ),
        ])
    }()

    /// Every operation of an agent and its commands on a file. Errors are valid results.
    private static func use(_ path: String, _ fresh: String, preparesDrains: Bool) {
        func attempt(_ work: () throws -> Void) {
            try? work()
        }
        attempt { _ = try RealmExamination.read(path: path) }
        attempt { _ = try RejectedWrite.read(path: path, limit: 10) }
        attempt { _ = try RealmFileSchema.read(path: path) }
        attempt { _ = try UnsyncedExport.lines(path: path) }
        let options = [
            PropertyName(className: "Item", property: "count"): PropertyOptions(isCounter: true)
        ]
        let opened = try? RealmFixture.open(path, schema, options: options) {
            if preparesDrains { $0.preparedRows = 1...Int.max }
        }
        guard let realm = opened else { return }
        defer { realm.close() }
        attempt { _ = try realm.rejectedWrites() }
        attempt { _ = try realm.acknowledgedVersion() }
        attempt { _ = try realm.drain() }
        var cursor = realm.status.progress.upload
        for _ in 0..<5 {
            attempt {
                let batch = try realm.scanUploads(from: cursor, upTo: realm.status.localVersion)
                cursor = batch.progress
            }
        }
        let progress = realm.status.progress
        let version = progress.download.serverVersion.rawValue &+ 1
        for size in [UInt64(1), UInt64(Int64.max)] {
            let download = RealmFixture.download(
                version,
                after: progress.download.lastIntegratedClientVersion.rawValue
            ) { $0.createObject(ObjectReference("Person", Int64(77))) }
            attempt {
                _ = try realm.integrate(
                    [
                        DownloadChangeset(
                            cursor: download.cursor,
                            originTimestamp: download.originTimestamp,
                            originFileIdent: download.originFileIdent,
                            originalSizeInBytes: size,
                            bytes: download.bytes
                        )
                    ],
                    progress: SyncProgress(
                        latestServerVersion: SaltedServerVersion(
                            version: ServerVersion(
                                max(version, progress.latestServerVersion.version.rawValue)
                            ),
                            salt: Salt(1)
                        ),
                        download: DownloadCursor(
                            serverVersion: ServerVersion(version),
                            lastIntegratedClientVersion:
                                progress.download.lastIntegratedClientVersion
                        ),
                        upload: progress.upload
                    ),
                    downloadableBytes: UInt64(Int64.max)
                )
            }
        }
        attempt { try realm.markDownloadCompleted() }
        attempt {
            let attempt = try realm.resetAttempt()
            _ = ResetDecision(
                mode: .recoverOrDiscard,
                cause: ResetCause(action: attempt?.action ?? .clientReset, code: 217, message: ""),
                earlier: attempt,
                agentVersion: attempt?.agentVersion ?? "1",
                now: 0
            )
        }
        attempt { _ = try realm.carryOutReset(to: fresh, .recover) }
        attempt { _ = try realm.drain() }
    }

    /// The agent's tables in a new file.
    static let tables: [String] = {
        guard let fixture = try? RealmFixture(.notes), let connection = try? fixture.connect(),
            let columns = try? TablePoison.columns(of: connection, prefix: "_realm_")
        else { return [] }
        return Set(columns.map(\.table)).sorted()
    }()

    @Test("The test's file has data in all of the agent's tables")
    func template() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("template.sqlite")
        try Self.prepare(path, Self.schema)
        let connection = try Connection(path: path)
        for table in ["capture", "history", "issue", "class", "property"] {
            #expect(try TablePoison.rowCount(of: "_realm_\(table)", on: connection) > 1, "\(table)")
        }
    }

    @Test("Every column of every table, one by one", arguments: tables)
    func everyColumn(table: String) async throws {
        await #expect(processExitsWith: .success) {
            [table = table as String] in
            let directory = try TemporaryDirectory(isInMemory: true)
            let template = directory.file("template.sqlite")
            try ExtremeNumbersTests.prepare(template, ExtremeNumbersTests.schema)
            let fresh = directory.file("fresh.sqlite")
            let other = try RealmFixture.open(fresh, ExtremeNumbersTests.schema)
            try other.storeFileIdent(SaltedFileIdent(ident: FileIdent(5), salt: Salt(8)))
            other.close()
            let path = directory.file("realm.sqlite")
            let columns = try TablePoison.columns(
                of: try Connection(path: template),
                prefix: table
            ).filter { $0.table == table }
            var count = 0
            for column in columns {
                var first = 0
                while first < TablePoison.values.count {
                    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
                    try FileManager.default.copyItem(atPath: template, toPath: path)
                    let program = try Connection(path: path)
                    try TablePoison.fill(table, on: program)
                    let rows = try TablePoison.rowCount(of: table, on: program)
                    let changed = try TablePoison.poison(column, from: first, on: program)
                    program.close()
                    if changed > 0 {
                        let isOdd = !count.isMultiple(of: 2)
                        ExtremeNumbersTests.use(path, fresh, preparesDrains: isOdd)
                        count += 1
                    }
                    // Each row takes its turn with most of the values.
                    first += min(max(1, rows), 3)
                }
            }
            print("\(table): \(columns.count) columns, \(count) files")
            exit(columns.isEmpty || count > 0 ? 0 : 1)
        }
    }
}
