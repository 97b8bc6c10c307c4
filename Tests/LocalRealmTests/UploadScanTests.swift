import Changesets
import FaultInjection
import LocalRealm
import SQLite
import TestSupport
import Testing
import Versions

@Suite("Scanning the history for uploads")
struct UploadScanTests {
    let fixture: RealmFixture
    let program: Connection

    init() throws {
        fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
        program = try fixture.connect()
    }

    private func write(sizeInBytes: Int) throws {
        try program.run(
            "INSERT INTO Note SELECT count(*), hex(zeroblob(?)) FROM Note",
            [.integer(Int64(sizeInBytes / 2))]
        )
        _ = try fixture.realm.drain()
    }

    private func scan(
        from version: UInt64,
        upTo end: UInt64? = nil
    ) throws -> UploadBatch {
        try fixture.realm.scanUploads(
            from: UploadCursor(
                clientVersion: ClientVersion(version),
                lastIntegratedServerVersion: .zero
            ),
            upTo: end.map { ClientVersion($0) } ?? fixture.realm.status.localVersion
        )
    }

    private func versions(_ batch: UploadBatch) -> [UInt64] {
        batch.changesets.map(\.cursor.clientVersion.rawValue)
    }

    @Test("A batch ends once it has passed 128 KiB, and the next one continues from there")
    func softLimit() throws {
        for _ in 0..<5 { try write(sizeInBytes: 60_000) }
        var batch = try scan(from: 0)
        #expect(versions(batch) == [2, 3, 4, 5])
        #expect(batch.progress.clientVersion == ClientVersion(5))
        batch = try scan(from: 5)
        #expect(versions(batch) == [6, 7])
        batch = try scan(from: 7)
        #expect(versions(batch) == [])
        #expect(batch.progress.clientVersion == ClientVersion(7))
    }

    @Test("No batch exceeds 16 MiB, but a single changeset may")
    func hardLimit() throws {
        try write(sizeInBytes: 100_000)
        try write(sizeInBytes: 16_777_000)
        try program.run(
            "UPDATE _realm_history SET changeset = zeroblob(17000000), size = 17000000 WHERE version = 4"
        )
        #expect(versions(try scan(from: 0)) == [2, 3])
        #expect(versions(try scan(from: 3)) == [4])
    }

    @Test("The end of the scan is respected, and skippable versions before it are passed")
    func end() throws {
        try write(sizeInBytes: 10)
        try fixture.receive(upTo: 3)
        try fixture.receive(upTo: 4)
        try write(sizeInBytes: 10)
        var batch = try scan(from: 2, upTo: 5)
        #expect(versions(batch) == [3])
        #expect(batch.reached.clientVersion == ClientVersion(5))
        // Whether 4 and 5 were integrations can no longer be determined: nothing is reported of them.
        #expect(batch.progress == batch.changesets.last?.cursor)
        batch = try scan(from: 5)
        #expect(versions(batch) == [6])
        #expect(batch.progress.lastIntegratedServerVersion == ServerVersion(4))
        batch = try scan(from: 100)
        #expect(batch.progress.clientVersion == ClientVersion(100))
    }

    @Test("No two reports contradict each other, wherever scans begin and end, in any session")
    func consistency() throws {
        var random = SplitMix64(seed: 11)
        var reports: [UploadCursor] = []
        var serverVersion = UInt64(3)
        for _ in 0..<150 {
            switch Int.random(in: 0..<3, using: &random) {
            case 0: try write(sizeInBytes: 10)
            case 1:
                serverVersion += 1
                try fixture.receive(upTo: serverVersion)
            default:
                let newest = fixture.realm.status.localVersion.rawValue
                // A session begins; its last scan may be limited by a set, or by late news of the newest version.
                var cursor = UploadCursor.zero
                for end in [UInt64.random(in: 1...newest, using: &random), newest].shuffled(
                    using: &random
                ) {
                    let batch = try fixture.realm.scanUploads(
                        from: cursor,
                        upTo: ClientVersion(end)
                    )
                    cursor = batch.reached
                    reports += batch.changesets.map(\.cursor) + [batch.progress]
                }
            }
        }
        #expect(reports.count > 50)
        for report in reports {
            #expect(report.isConsistent)
            let contradicts = reports.filter { !$0.isMutuallyConsistent(with: report) }
            #expect(contradicts.isEmpty, "\(report): \(contradicts.prefix(3))")
        }
    }

    @Test("Data reported to the server is made durable once, and only if necessary")
    func durability() throws {
        let files = FaultyFiles()
        let fixture = try RealmFixture(.notes, vfs: files.name)
        files.heal()
        try fixture.realm.makeDurable()
        #expect(files.syncs == 1)
        try fixture.realm.makeDurable()
        #expect(files.syncs == 1)
        _ = try fixture.realm.drain()
        #expect(files.syncs == 2)
        try fixture.realm.makeDurable()
        #expect(files.syncs == 2)
        try fixture.receive(upTo: 1)
        #expect(files.syncs == 2)
        try fixture.realm.makeDurable()
        #expect(files.syncs == 3)
    }
}
