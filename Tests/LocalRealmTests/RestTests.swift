import Changesets
import FaultInjection
import FoundationEssentials
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

@Suite("A silent realm file rests")
struct RestTests {
    let fixture: RealmFixture

    init() throws {
        fixture = try RealmFixture(.notes)
        _ = try fixture.realm.drain()
    }

    @Test("Looks that find no use close all but the lock, and leave one complete file")
    func silence() throws {
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        _ = try fixture.realm.drain()
        #expect(fixture.openFiles.count > 1)
        fixture.rest()
        #expect(fixture.openFiles == ["\(fixture.path).lock"])
        #expect(!fixture.hasLog)
        #expect(fixture.realm.rest.takeIfSilent())
    }

    @Test("A use between the looks keeps the file open")
    func use() throws {
        for _ in 0..<20 {
            #expect(!fixture.realm.rest.takeIfSilent())
            _ = try fixture.realm.drain()
        }
    }

    @Test("Each call opens a resting file, and tells so")
    func calls() throws {
        let calls: [(RealmFixture) throws -> Void] = [
            { _ = try $0.realm.drain() },
            { try $0.realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9))) },
            { try $0.receive { $0.createObject(.init("Note", 7)) } },
            { try $0.realm.markDownloadCompleted() },
            { _ = try $0.realm.acknowledgedVersion() },
            {
                let cursor = $0.realm.status.progress.upload
                let end = $0.realm.status.localVersion
                _ = try $0.realm.scanUploads(from: cursor, upTo: end)
            },
            { _ = try $0.realm.resetAttempt() },
            { try $0.realm.forgetReset() },
            { _ = try $0.realm.rejectedWrites() },
            { _ = try $0.realm.row(of: "Note", key: .int(7)) },
        ]
        // An empty history need not be read.
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        _ = try fixture.realm.drain()
        var wakes = 0
        fixture.realm.rest.onWake = { wakes += 1 }
        for (number, call) in calls.enumerated() {
            fixture.rest()
            #expect(wakes == number)
            try call(fixture)
            #expect(wakes == number + 1)
        }
    }

    @Test("The status needs no open file")
    func status() throws {
        let before = fixture.realm.status
        fixture.rest()
        #expect(fixture.realm.status == before)
        #expect(fixture.openFiles == ["\(fixture.path).lock"])
    }

    @Test("What a restarted agent hears of a silent realm needs no open file")
    func restart() throws {
        let ident = SaltedFileIdent(ident: FileIdent(2), salt: Salt(9))
        try fixture.realm.storeFileIdent(ident)
        try fixture.receive { $0.createObject(.init("Note", 7)) }
        try fixture.realm.markDownloadCompleted()
        let schema = fixture.realm.status.localVersion.rawValue
        try fixture.receive(upTo: 2, after: schema)
        try fixture.reopen(.notes)
        let realm = fixture.realm
        let known = try realm.acknowledgedVersion()
        #expect(known == realm.status.localVersion)
        fixture.rest()

        // The server has heard of the newest version since.
        let before = realm.status.progress
        func uploaded(_ version: ClientVersion) -> SyncProgress {
            SyncProgress(
                latestServerVersion: before.latestServerVersion,
                download: DownloadCursor(
                    serverVersion: before.download.serverVersion,
                    lastIntegratedClientVersion: known
                ),
                upload: UploadCursor(
                    clientVersion: version,
                    lastIntegratedServerVersion: before.upload.lastIntegratedServerVersion
                )
            )
        }
        let progress = uploaded(known)
        try realm.makeDurable()
        let report = try realm.integrate([], progress: progress, downloadableBytes: 0)
        #expect(report == IntegrationReport(unchanged: known))
        #expect(realm.status.progress == progress)
        let batch = try realm.scanUploads(from: progress.upload, upTo: known)
        #expect(batch.changesets.isEmpty)
        #expect(batch.reached.clientVersion == known)
        #expect(try realm.acknowledgedVersion() == known)
        try realm.markDownloadCompleted()
        #expect(fixture.openFiles == ["\(fixture.path).lock"])

        // A cursor that goes back is refused as ever, and a local write is uploaded and acknowledged.
        #expect(throws: LocalRealmError.self) {
            try realm.integrate([], progress: uploaded(.zero), downloadableBytes: 0)
        }
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        let written = try realm.drain().localVersion
        #expect(try realm.acknowledgedVersion() == known)
        let cursor = realm.status.progress.upload
        #expect(try realm.scanUploads(from: cursor, upTo: written).changesets.count == 1)
        let acknowledgement = try realm.integrate(
            [],
            progress: uploaded(written),
            downloadableBytes: 0
        )
        #expect(acknowledgement.acknowledgedChangesetCount == 1)
        #expect(try realm.acknowledgedVersion() == realm.status.localVersion)
    }

    @Test("The same batch comes from an empty history as from none")
    func emptyScan() throws {
        try fixture.realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9)))
        for number: Int64 in 1...3 {
            try fixture.receive { $0.createObject(.init("Note", number)) }
        }
        let newest = fixture.realm.status.localVersion.rawValue
        for start in 0...newest + 1 {
            for end in 0...newest + 1 {
                let cursor = UploadCursor(
                    clientVersion: ClientVersion(start),
                    lastIntegratedServerVersion: ServerVersion(1)
                )
                // Reads the history: nothing has asked since the last write.
                _ = try fixture.receiveNothing()
                let asked = try fixture.realm.scanUploads(from: cursor, upTo: ClientVersion(end))
                _ = try fixture.realm.acknowledgedVersion()
                let known = try fixture.realm.scanUploads(from: cursor, upTo: ClientVersion(end))
                #expect(asked == known)
            }
        }
    }

    @Test("An opened realm is durable if there is no log")
    func durableAtOnce() throws {
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        _ = try fixture.realm.drain()
        try fixture.reopen(.notes)
        #expect(fixture.realm.isDurable)
        let program = try fixture.connect()
        try program.execute("INSERT INTO Note VALUES (2, 'x')")
        try fixture.reopen(.notes)
        #expect(!fixture.realm.isDurable)
        program.close()
    }

    @Test("Other agents stay locked out")
    func lock() throws {
        fixture.rest()
        let error = #expect(throws: LocalRealmError.self) { try RealmFixture.open(fixture.path) }
        #expect(error?.kind == .locked)
    }

    @Test("A program's connection keeps its log, which the end of the agent copies into the file")
    func leftLog() throws {
        let program = try fixture.connect()
        try program.setCheckpointOnClose(false)
        try program.execute("INSERT INTO Note VALUES (1, 'x')")
        fixture.rest()
        program.close()
        #expect(fixture.hasLog)
        fixture.realm.close()
        #expect(!fixture.hasLog)
        #expect(try fixture.rows("SELECT text FROM Note") == ["x"])
    }

    // MARK: What others do meanwhile

    @Test("Writes of programs are drained")
    func writes() throws {
        for number in 1...3 {
            fixture.rest()
            try fixture.connect().execute("INSERT INTO Note VALUES (\(number), 'x')")
            #expect(try fixture.drained().first == "CreateObject Note \(number)")
        }
    }

    @Test("A file that was replaced, removed or restored is noticed", arguments: Loss.allCases)
    func replaced(loss: Loss) throws {
        fixture.rest()
        let backup = try Data(contentsOf: URL(filePath: fixture.path))
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        _ = try fixture.realm.drain()
        fixture.rest()
        switch loss {
        case .replaced: try backup.write(to: URL(filePath: fixture.path), options: .atomic)
        case .removed: try FileManager.default.removeItem(atPath: fixture.path)
        // Has the identity of the file before.
        case .restored: try backup.write(to: URL(filePath: fixture.path))
        }
        for _ in 0..<2 {
            let error = #expect(throws: LocalRealmError.self) { try fixture.realm.drain() }
            #expect(error?.kind == .replaced)
        }
        #expect(fixture.openFiles == ["\(fixture.path).lock"])
    }

    enum Loss: CaseIterable {
        case replaced
        case removed
        case restored
    }

    @Test("Tables and triggers that a program changed are verified")
    func schema() throws {
        let trigger = try fixture.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'Note' LIMIT 1"
        )[0]
        fixture.rest()
        try fixture.connect().execute("DROP TRIGGER \(Connection.quoted(trigger))")
        #expect(try fixture.receiveNothing().drained.notices.count == 1)
        #expect(try fixture.rows("SELECT 1 FROM sqlite_schema WHERE name = '\(trigger)'") == ["1"])
    }

    @Test("A journal mode that a program set is set back")
    func journalMode() throws {
        fixture.rest()
        try fixture.connect().execute("PRAGMA journal_mode = DELETE")
        _ = try fixture.realm.drain()
        #expect(try fixture.rows("PRAGMA journal_mode") == ["wal"])
    }

    @Test("Triggers that run on remote changes still do")
    func remoteTriggers() throws {
        let fixture = try RealmFixture(.notes) { $0.remoteTriggers = ["mirror"] }
        try fixture.connect().execute(
            """
            CREATE TABLE own(v);
            CREATE TRIGGER mirror AFTER INSERT ON Note BEGIN INSERT INTO own VALUES (NEW._id); END;
            """
        )
        for number in 1...2 {
            fixture.rest()
            try fixture.receive { $0.createObject(.init("Note", Int64(number))) }
        }
        #expect(try fixture.rows("SELECT v FROM own ORDER BY v") == ["1", "2"])
        // The agent's writes are still not captured.
        #expect(try fixture.rows("SELECT count(*) FROM _realm_capture") == ["0"])
    }

    @Test("A realm that rests between its calls ends like one that never does")
    func equivalence() throws {
        for seed in Seeds.some(20) {
            var (world, other) = (RandomWorld(seed: seed), RandomWorld(seed: seed))
            let restless = try Replayed(world.schema)
            let resting = try Replayed(other.schema)
            var chances = SplitMix64(seed: seed)
            for _ in 0..<12 {
                try restless.step(&world)
                if Bool.random(using: &chances) { resting.fixture.rest() }
                try resting.step(&other)
            }
            #expect(restless.server.state == resting.server.state, "seed \(seed)")
            let (one, two) = (restless.fixture, resting.fixture)
            #expect(
                try TableContents(world.schema, one.connect())
                    == TableContents(other.schema, two.connect()),
                "seed \(seed)"
            )
            #expect(one.realm.status.progress == two.realm.status.progress, "seed \(seed)")
            #expect(one.realm.status.localVersion == two.realm.status.localVersion)
        }
    }

    private struct Replayed {
        let fixture: RealmFixture
        let server = ServerModel()

        init(_ schema: RealmSchema) throws {
            fixture = try RealmFixture(schema)
            try fixture.realm.storeFileIdent(server.register())
        }

        func step(_ world: inout RandomWorld) throws {
            try fixture.write(&world, server)
        }
    }

    // MARK: Disks

    @Test("What was durable stays so, and the rest of it becomes so", arguments: [0, 50])
    func powerCut(survivorsInPercent: Int) throws {
        let files = FaultyFiles()
        try fixture.reopen(.notes, vfs: files.name)
        try fixture.connect(vfs: files.name).execute("INSERT INTO Note VALUES (1, 'x')")
        _ = try fixture.realm.drain()
        // Not durable before the rest.
        try fixture.receive { $0.createObject(.init("Note", 2)) }
        #expect(!fixture.realm.isDurable)
        fixture.rest()
        let version = fixture.realm.status.localVersion
        _ = try fixture.realm.drain()
        try fixture.realm.makeDurable()
        fixture.rest()
        files.arm(.freeze, at: 1)
        fixture.realm.close()
        files.cutPower(survivorsInPercent: survivorsInPercent)
        try fixture.reopen(.notes)
        #expect(fixture.realm.status.localVersion >= version)
        #expect(try fixture.rows("SELECT _id FROM Note ORDER BY _id") == ["1", "2"])
    }

    @Test("A full disk gives the same error as ever, and the next call after it works")
    func fullDisk() throws {
        let files = FaultyFiles()
        try fixture.reopen(.notes, vfs: files.name)
        fixture.rest()
        try fixture.connect().execute("INSERT INTO Note VALUES (1, 'x')")
        files.arm(.diskFull, at: 1)
        for _ in 0..<3 {
            let error = #expect(throws: LocalRealmError.self) { try fixture.realm.drain() }
            #expect(error?.kind == .diskFull)
            fixture.rest()
        }
        files.heal()
        #expect(try fixture.drained().first == "CreateObject Note 1")
    }

    @Test("A rest that cannot copy the log leaves it")
    func fullDiskAtRest() throws {
        let files = FaultyFiles()
        try fixture.reopen(.notes, vfs: files.name)
        try fixture.connect(vfs: files.name).execute("INSERT INTO Note VALUES (1, 'x')")
        _ = try fixture.realm.drain()
        files.arm(.diskFull, at: 1)
        fixture.rest()
        #expect(fixture.hasLog)
        files.heal()
        try fixture.receive { $0.createObject(.init("Note", 2)) }
        #expect(try fixture.rows("SELECT _id FROM Note ORDER BY _id") == ["1", "2"])
    }
}

extension RealmFixture {
    /// Looks until the file rests.
    fileprivate func rest() {
        let hasRested = (0..<3).contains { _ in realm.rest.takeIfSilent() }
        #expect(hasRested)
    }

    /// Integrates a download without changes.
    fileprivate func receiveNothing() throws -> IntegrationReport {
        try receive(upTo: realm.status.progress.download.serverVersion.rawValue + 1)
    }

    fileprivate var hasLog: Bool { FileManager.default.fileExists(atPath: path + "-wal") }
}
