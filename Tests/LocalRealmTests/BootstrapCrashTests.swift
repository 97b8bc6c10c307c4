import Changesets
import FaultInjection
import LocalRealm
import SQLite
import Subscriptions
import TestSupport
import Testing
import Versions

/// A set is committed, its bootstrap arrives in three messages and is applied, with a local write in the
/// log; the process ends at any write of that.
@Suite("Crashes during a change of subscriptions")
struct BootstrapCrashTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static func open(
        _ path: String,
        vfs: String? = nil
    ) throws(LocalRealmError) -> RealmFile {
        try RealmFixture.open(path, vfs: vfs, owner: .flexible) { $0.bootstrapBatchInBytes = 1 }
    }

    /// A realm with one object in its view, which the next set leaves out.
    private func prepare(_ path: String) throws {
        let realm = try Self.open(path)
        defer { realm.close() }
        try realm.beginFlexibleSync()
        let one = try realm.subscribe(.add(.init(className: "Note")))
        try realm.bootstrap(
            one,
            at: 2,
            [
                FlexibleRealm.entering(1, "old", version: 2),
                FlexibleRealm.entering(2, "stays", version: 2),
            ]
        )
        try realm.markDownloadCompleted()
        try Connection(path: path).execute("UPDATE Note SET text = 'mine' WHERE _id = 2")
    }

    /// Continues from the realm's state.
    private func work(_ realm: RealmFile) throws {
        if realm.status.subscriptions?.latest.version == QueryVersion(1) {
            try realm.subscribe(.put(.init(name: "more", className: "Note")))
        }
        let sets = realm.status.subscriptions
        if let set = sets?.latest, set.state.isPending {
            try realm.bootstrap(
                set.version,
                at: 3,
                [
                    FlexibleRealm.leaving(1, version: 3),
                    FlexibleRealm.entering(3, "new", version: 3),
                    FlexibleRealm.entering(4, "new", version: 3),
                ]
            )
        }
        try realm.markDownloadCompleted()
        _ = try realm.drain()
    }

    private func rows(_ path: String) throws -> [[SQLiteValue]] {
        try Connection(path: path).rows("SELECT _id, text FROM Note ORDER BY _id")
    }

    private static let before: [[SQLiteValue]] = [[1, "old"], [2, "mine"]]
    private static let after: [[SQLiteValue]] = [[2, "mine"], [3, "new"], [4, "new"]]

    private func changeCount() throws -> Int {
        let path = directory.file("count.sqlite")
        try prepare(path)
        let files = FaultyFiles()
        let realm = try Self.open(path, vfs: files.name)
        files.heal()
        try work(realm)
        let count = files.changes
        realm.close()
        #expect(try rows(path) == Self.after)
        return count
    }

    @Test(
        "At every write, readers see the old view or the new one, and the work ends the same"
    )
    func everyWrite() throws {
        let count = try changeCount()
        #expect(count > 10)
        var seen: Set<String> = []
        for change in 1...count {
            let path = directory.file("frozen-\(change).sqlite")
            try prepare(path)
            let files = FaultyFiles()
            let frozen = try Self.open(path, vfs: files.name)
            files.arm(.freeze, at: change)
            try? work(frozen)
            frozen.close()
            let rows = try rows(path)
            #expect(rows == Self.before || rows == Self.after, "change \(change): \(rows)")
            let realm = try Self.open(path)
            seen.insert(realm.setStates.joined(separator: ", "))
            #expect(
                try Connection(path: path).rows("SELECT * FROM _realm_bootstrap") == [],
                "change \(change)"
            )
            try work(realm)
            #expect(realm.setStates == ["2 complete"], "change \(change)")
            realm.close()
            #expect(try self.rows(path) == Self.after, "change \(change)")
            #expect(
                try Connection(path: path).rows(
                    "SELECT count(*) FROM _realm_history WHERE size > 0"
                ) == [[1]],
                "change \(change)"
            )
        }
        // Every stage was met: not committed, committed, applied.
        #expect(seen == ["1 complete", "1 complete, 2 pending", "2 awaitingMark"], "\(seen)")
    }

    @Test("A full or failing disk is reported, and the same work succeeds afterwards")
    func failingDisk() throws {
        let count = try changeCount()
        for fault in [FaultyFiles.Fault.diskFull, .error] {
            for change in stride(from: 1, through: count, by: 3) {
                let path = directory.file("\(fault)-\(change).sqlite")
                try prepare(path)
                let files = FaultyFiles()
                let realm = try Self.open(path, vfs: files.name)
                files.arm(fault, at: change)
                try? work(realm)
                files.heal()
                try work(realm)
                realm.close()
                let reopened = try Self.open(path)
                #expect(reopened.setStates == ["2 complete"], "\(fault) \(change)")
                reopened.close()
                #expect(try rows(path) == Self.after, "\(fault) \(change)")
            }
        }
    }
}
