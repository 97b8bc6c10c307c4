import Changesets
import LocalRealm
import SQLite
import Schemas
import Scopes
import TestSupport
import Versions

/// A real realm file, which another program writes with plain SQL.
///
/// The triggers take the time from the wall clock, so two runs of a seed may merge differently.
final class RealmReplica: Replica {
    private let directory: TemporaryDirectory
    private var realm: RealmFile
    /// Nil: learned from the others.
    private let schema: RealmSchema?
    private var world: RandomWorld

    init(_ schema: RealmSchema?, in world: RandomWorld) throws {
        directory = try TemporaryDirectory()
        realm = try Self.open(directory, schema)
        self.schema = schema
        self.world = world
    }

    private static func open(
        _ directory: TemporaryDirectory,
        _ schema: RealmSchema?
    ) throws(LocalRealmError) -> RealmFile {
        var random = SplitMix64(seed: 7)
        var configuration = LocalRealmConfiguration(
            path: directory.file("stock.sqlite"),
            owner: RealmOwner(
                appID: "shop-abcde",
                userID: "ann",
                scope: .partition(.string("store-42"))
            ),
            machineID: "machine",
            schema: schema
        )
        // The world is small; each log that can be is drained in two steps.
        configuration.preparedRows = 1...100_000
        return try RealmFile.open(
            configuration,
            clock: { 1_772_600_767_000 },
            random: &random
        )
    }

    var fileIdent: SaltedFileIdent { realm.status.fileIdent }
    var progress: SyncProgress { realm.status.progress }
    var localVersion: ClientVersion { realm.status.localVersion }

    var historyCount: Int {
        get throws { try count("origin_file_ident = 0 AND size > 0") }
    }

    var reciprocalCount: Int {
        get throws { try count("reciprocal IS NOT NULL") }
    }

    private func count(_ condition: String) throws -> Int {
        let statement = try connect().prepare(
            "SELECT count(*) FROM _realm_history WHERE \(condition)"
        )
        return try statement.step() ? Int(statement.integer(at: 0)) : 0
    }

    /// The other program's connection.
    func connect() throws -> Connection {
        try Connection(path: directory.file("stock.sqlite"))
    }

    func storeFileIdent(_ ident: SaltedFileIdent) throws {
        try realm.storeFileIdent(ident)
    }

    func write(at time: UInt64, using random: inout SplitMix64) throws {
        world.random = random
        let program = try connect()
        for statement in world.transaction() {
            // Many break a constraint, on purpose, or the table does not exist yet.
            try? program.execute(statement)
        }
        random = world.random
    }

    func drain() throws {
        _ = try realm.drain()
    }

    func scanUploads(from cursor: UploadCursor) throws -> UploadBatch {
        let batch = try realm.scanUploads(from: cursor, upTo: realm.status.localVersion)
        try realm.makeDurable()
        return batch
    }

    func integrate(_ changesets: [DownloadChangeset], progress: SyncProgress) throws {
        _ = try realm.integrate(changesets, progress: progress, downloadableBytes: 0)
    }

    func restart() throws {
        realm.close()
        realm = try Self.open(directory, schema)
    }
}
