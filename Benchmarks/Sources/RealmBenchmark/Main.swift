import Changesets
import Glibc
import LocalRealm
import SQLite
import Schemas
import Versions

/// Measures what capture costs a program that inserts, and how fast a realm drains and applies.
@main
struct RealmBenchmark {
    static let transactionSize = 1000

    static func main() async throws {
        let objects = CommandLine.arguments.dropFirst().first.flatMap(Int.init) ?? 100_000
        var folder = Array("/tmp/realm-benchmark-XXXXXX".utf8CString)
        guard mkdtemp(&folder) != nil else { return }
        let directory = String(
            decoding: folder.dropLast().map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        defer { remove(directory) }
        let benchmark = RealmBenchmark(directory: directory, objects: objects)
        try benchmark.run()
        try await benchmark.watch()
    }

    let directory: String
    let objects: Int

    private static func remove(_ directory: String) {
        for name in ["bare", "writer", "reader"] {
            for suffix in ["", "-wal", "-shm", ".lock"] { unlink("\(directory)/\(name)\(suffix)") }
        }
        rmdir(directory)
    }

    // MARK: The run

    private func run() throws {
        let bare = try Connection(path: "\(directory)/bare")
        try bare.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
        try bare.execute(
            """
            CREATE TABLE Item(_id TEXT NOT NULL PRIMARY KEY, name TEXT, code TEXT, note TEXT,
              count INTEGER, size INTEGER, weight REAL, price REAL, isOpen INTEGER, madeAt TEXT,
              data BLOB) STRICT
            """
        )
        let bareInserts = try measure { try insert(bare) }
        report("insert into a bare table", bareInserts, beside: bareInserts)

        let writer = try open("writer", Self.schema)
        _ = try writer.drain()
        let program = try Connection(path: "\(directory)/writer")
        try program.execute("PRAGMA synchronous = NORMAL")
        report("insert with capture", try measure { try insert(program) }, beside: bareInserts)
        report("drain", try measure { _ = try writer.drain() }, beside: bareInserts)
        let lastCreation = writer.status.localVersion.rawValue
        report(
            "update one field with capture",
            try measure { try program.execute("UPDATE Item SET count = count + 1") },
            beside: bareInserts
        )
        report("drain the updates", try measure { _ = try writer.drain() }, beside: bareInserts)

        let (creations, updates) = try downloads(splitAfter: lastCreation)
        let reader = try open("reader", nil)
        for (name, downloads) in [("apply created objects", creations), ("apply updates", updates)]
        {
            report(
                name,
                try measure { try integrate(downloads, into: reader) },
                beside: bareInserts
            )
        }
    }

    /// How long after another connection's commit the watcher speaks, and what it costs in between.
    private func watch() async throws {
        let path = "\(directory)/writer"
        let realm = try open("writer", Self.schema)
        let program = try Connection(path: path)
        var captures = try CommitWatcher(path: path).captures().makeAsyncIterator()
        let clock = ContinuousClock()
        var delays: [Duration] = []
        for _ in 0..<300 {
            try program.execute(
                "UPDATE Item SET size = size + 1 WHERE rowid = abs(random() % \(objects)) + 1"
            )
            let committed = clock.now
            _ = await captures.next()
            delays.append(clock.now - committed)
            _ = try realm.drain()
            try await Task.sleep(for: .milliseconds(5))
        }
        delays.sort()
        print("commit noticed after          \(delays[150]), 99 % within \(delays[297])")

        let before = Self.processorTime
        try await Task.sleep(for: .seconds(10))
        print("processor time of idling 10 s \(Self.processorTime - before)")
    }

    private static var processorTime: Duration {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        let times = [usage.ru_utime, usage.ru_stime]
        return times.reduce(.zero) { $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec) }
    }

    private func open(_ name: String, _ schema: RealmSchema?) throws -> RealmFile {
        var random = SystemRandomNumberGenerator()
        let owner = RealmOwner(appID: "app", userID: "user", scope: .partition("null"))
        return try RealmFile.open(
            LocalRealmConfiguration(
                path: "\(directory)/\(name)",
                owner: owner,
                machineID: "here",
                schema: schema
            ),
            clock: { Int64(time(nil)) * 1000 },
            random: &random
        )
    }

    private static let schema = RealmSchema([
        ClassSchema(
            name: "Item",
            kind: .topLevel(.init(name: "_id", type: .objectID, isNullable: false)),
            properties: [
                .init(name: "name", type: .string, isNullable: false),
                .init(name: "code", type: .string, isNullable: false),
                .init(name: "note", type: .string, isNullable: true),
                .init(name: "count", type: .int, isNullable: false),
                .init(name: "size", type: .int, isNullable: true),
                .init(name: "weight", type: .double, isNullable: false),
                .init(name: "price", type: .double, isNullable: true),
                .init(name: "isOpen", type: .bool, isNullable: false),
                .init(name: "madeAt", type: .timestamp, isNullable: false),
                .init(name: "data", type: .binary, isNullable: false),
            ]
        )
    ])

    private func insert(_ connection: Connection) throws {
        let statement = try connection.prepare(
            "INSERT INTO Item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        for start in stride(from: 0, to: objects, by: Self.transactionSize) {
            try connection.transaction {
                for number in start..<min(start + Self.transactionSize, objects) {
                    try bind(number, to: statement)
                    try statement.run()
                }
            }
        }
    }

    private func bind(_ number: Int, to statement: Statement) throws(SQLiteError) {
        // Scattered like the keys of many devices.
        let scattered = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        let digits = Hexadecimal.text(
            of: (0..<8).map { UInt8(truncatingIfNeeded: scattered >> ($0 * 8)) }
        )
        try statement.bind(digits + "00000000", at: 1)
        try statement.bind("item number \(number)", at: 2)
        try statement.bind("code-\(number % 1000)", at: 3)
        try statement.bind("a note of some length about this item", at: 4)
        try statement.bind(Int64(number), at: 5)
        try statement.bind(Int64(number % 100), at: 6)
        try statement.bind(Double(number) / 8, at: 7)
        try statement.bind(Double(number % 10_000) / 100, at: 8)
        try statement.bind(Int64(number % 2), at: 9)
        try statement.bind("2026-03-04T05:06:07.000000000Z", at: 10)
        try statement.bind(blob: [1, 2, 3, 4, 5, 6, 7, 8], at: 11)
    }

    // MARK: From one realm to the other

    /// The writer's changesets, up to a version and above it.
    private func downloads(
        splitAfter version: UInt64
    ) throws -> ([DownloadChangeset], [DownloadChangeset]) {
        let connection = try Connection(path: "\(directory)/writer")
        var downloads: [DownloadChangeset] = []
        let statement = try connection.prepare(
            "SELECT version, changeset FROM _realm_history WHERE size > 0 ORDER BY version"
        )
        while try statement.step() {
            let version = UInt64(statement.integer(at: 0))
            let bytes = statement.bytes(at: 1)
            downloads.append(
                DownloadChangeset(
                    cursor: DownloadCursor(
                        serverVersion: ServerVersion(version),
                        lastIntegratedClientVersion: .zero
                    ),
                    originTimestamp: OriginTimestamp(1),
                    originFileIdent: FileIdent(9),
                    originalSizeInBytes: UInt64(bytes.count),
                    bytes: bytes
                )
            )
        }
        let isFirst = { (download: DownloadChangeset) in
            download.cursor.serverVersion.rawValue <= version
        }
        return (downloads.filter(isFirst), downloads.filter { !isFirst($0) })
    }

    private func integrate(_ downloads: [DownloadChangeset], into realm: RealmFile) throws {
        for download in downloads {
            let version = download.cursor.serverVersion
            _ = try realm.integrate(
                [download],
                progress: SyncProgress(
                    latestServerVersion: SaltedServerVersion(version: version, salt: Salt(1)),
                    download: DownloadCursor(
                        serverVersion: version,
                        lastIntegratedClientVersion: .zero
                    ),
                    upload: .zero
                ),
                downloadableBytes: 0
            )
        }
    }

    // MARK: Reporting

    private func measure(_ body: () throws -> Void) rethrows -> Duration {
        try ContinuousClock().measure(body)
    }

    private func report(_ name: String, _ time: Duration, beside bare: Duration) {
        let rate = Int(Double(objects) / (time / .seconds(1)) / 1000)
        let ratio = Int(100 * (time / bare))
        let padding = String(repeating: " ", count: max(0, 30 - name.count))
        print("\(name)\(padding) \(rate) thousand objects/s, \(ratio) % of the bare inserts' time")
    }
}
