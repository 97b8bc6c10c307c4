import Changesets
import Documents
import FaultInjection
import Glibc
import LocalRealm
import SQLite
import Schemas
import TestSupport
import Testing
import Versions

/// A realm of all kinds of properties, with local writes in the log, and a batch of random transactions
/// to integrate; the same for the same seed.
struct IntegrationCrash: Codable {
    let seed: UInt64

    /// The transactions of others that the realm already has, and the ones to come.
    private func transactions() throws -> (old: [Changeset], new: [Changeset]) {
        var model = InMemoryRealm()
        let base = try RandomTransactions.baseChangeset
        try model.apply(base)
        var changesets = [base]
        var random = RandomTransactions(seed: seed, peer: 0, settled: model)
        for _ in 0..<12 {
            let (changeset, result) = try random.transaction(on: model)
            changesets.append(changeset)
            model = result
        }
        return (Array(changesets[..<7]), Array(changesets[7...]))
    }

    private static func downloads(_ changesets: [Changeset], after version: UInt64)
        -> [DownloadChangeset]
    {
        changesets.enumerated().map { index, changeset in
            RealmFixture.download(
                version + UInt64(index) + 1,
                // Later than what is written here: theirs wins.
                timestamp: 1 << 60,
                changeset.encoded()
            )
        }
    }

    func prepare(_ path: String) throws {
        let realm = try RealmFixture.open(path)
        defer { realm.close() }
        try realm.storeFileIdent(SaltedFileIdent(ident: FileIdent(2), salt: Salt(9)))
        let old = Self.downloads(try transactions().old, after: 0)
        _ = try realm.integrate(
            old,
            progress: RealmFixture.progress(UInt64(old.count)),
            downloadableBytes: 0
        )
        let program = try Connection(path: path)
        // Random transactions avoid this key, except for the last statement's.
        try program.execute(
            """
            INSERT INTO Thing(_id, i, li, si, di, e, x) VALUES
              (900, 5, '[1,2]', '[7]', '{"a":1}', '{"i":4,"l":[1]}', '[1,{"k":true}]');
            INSERT INTO Tag(_id, name) VALUES (900, 'mine');
            UPDATE Thing SET li = json_insert(li, '$[#]', 42), i = i + 1 WHERE _id < 900;
            UPDATE _realm_capture SET at = \(RealmFixture.instant);
            """
        )
    }

    /// Integrates the transactions to come, unless that has been done.
    func work(_ realm: RealmFile) throws {
        let (old, new) = try transactions()
        let version = UInt64(old.count)
        guard realm.status.progress.download.serverVersion.rawValue == version else { return }
        _ = try realm.integrate(
            Self.downloads(new, after: version),
            progress: RealmFixture.progress(version + UInt64(new.count)),
            downloadableBytes: 0
        )
    }

    func run(_ path: String, vfs: String?, armed: () -> Void) throws {
        let realm = try RealmFixture.open(path, vfs: vfs)
        defer { realm.close() }
        armed()
        try work(realm)
    }

    /// Everything in the file, except for what differs from file to file.
    static func contents(_ path: String) throws -> [String: [[SQLiteValue]]] {
        let connection = try Connection(path: path)
        #expect(try connection.rows("PRAGMA integrity_check") == [["ok"]])
        #expect(try connection.rows("SELECT * FROM _realm_capture") == [])
        var contents: [String: [[SQLiteValue]]] = [:]
        let tables = try connection.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        )
        for case .text(let name) in tables.map({ $0[0] }) where name != "_realm_state" {
            let rows = try connection.rows("SELECT * FROM \(Connection.quoted(name))")
            contents[name] = rows.sorted { "\($0)" < "\($1)" }
        }
        contents["_realm_state"] = try connection.rows(
            """
            SELECT local_version, history_base_version, download_server_version, downloaded_bytes,
              uploadable_bytes, last_origin_timestamp FROM _realm_state
            """
        )
        return contents
    }
}

@Suite("Crashes and failing disks while others' changes are integrated")
struct IntegrationCrashTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    /// The file's content when nothing fails, and the number of file changes.
    private func undisturbed(
        _ crash: IntegrationCrash
    ) throws -> (contents: [String: [[SQLiteValue]]], changes: Int) {
        let path = directory.file("whole-\(crash.seed).sqlite")
        try crash.prepare(path)
        let files = FaultyFiles()
        try crash.run(path, vfs: files.name) { files.heal() }
        return (try IntegrationCrash.contents(path), files.changes)
    }

    @Test("Killed between any two writes, the realm ends in the same state")
    func kill() async throws {
        for seed in Seeds.some(4) {
            let crash = IntegrationCrash(seed: seed)
            let (expected, count) = try undisturbed(crash)
            var random = SplitMix64(seed: seed)
            let change = Int.random(in: 1...count, using: &random)
            let isTorn = Bool.random(using: &random)
            let path = directory.file("killed-\(seed).sqlite")
            try crash.prepare(path)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [
                    path = path as String, crash = crash as IntegrationCrash,
                    change = change as Int, isTorn = isTorn as Bool
                ] in
                let files = FaultyFiles()
                try crash.run(path, vfs: files.name) {
                    files.arm(isTorn ? .tornKill : .kill, at: change)
                }
            }
            try crash.run(path, vfs: nil) {}
            let contents = try IntegrationCrash.contents(path)
            #expect(contents == expected, "seed \(seed), killed at change \(change) of \(count)")
        }
    }

    @Test("The same for every write of some batches, with a file layer that freezes instead")
    func freeze() throws {
        for seed in UInt64(0)..<2 {
            let crash = IntegrationCrash(seed: 100 + seed)
            let (expected, count) = try undisturbed(crash)
            for change in 1...count {
                let path = directory.file("frozen-\(seed)-\(change).sqlite")
                try crash.prepare(path)
                let files = FaultyFiles()
                try? crash.run(path, vfs: files.name) { files.arm(.freeze, at: change) }
                try crash.run(path, vfs: nil) {}
                let contents = try IntegrationCrash.contents(path)
                #expect(contents == expected, "seed \(seed), frozen at change \(change)")
            }
        }
    }

    @Test("A full or failing disk is reported, and the same call succeeds after recovery")
    func failures() throws {
        let crash = IntegrationCrash(seed: 200)
        let (expected, count) = try undisturbed(crash)
        for (offset, fault) in [FaultyFiles.Fault.diskFull, .shortWrite, .error].enumerated() {
            // Each write meets one of the faults.
            for change in stride(from: 1 + offset, through: count, by: 3) {
                let path = directory.file("\(fault)-\(change).sqlite")
                try crash.prepare(path)
                let files = FaultyFiles()
                let realm = try RealmFixture.open(path, vfs: files.name)
                let before = realm.status
                files.arm(fault, at: change)
                do {
                    try crash.work(realm)
                } catch let error as LocalRealmError {
                    #expect([.diskFull, .inputOutput].contains(error.kind), "\(error)")
                    #expect(error.isTransient)
                    #expect(realm.status == before)
                }
                files.heal()
                try crash.work(realm)
                realm.close()
                let contents = try IntegrationCrash.contents(path)
                #expect(contents == expected, "\(fault) at change \(change)")
            }
        }
    }
}
