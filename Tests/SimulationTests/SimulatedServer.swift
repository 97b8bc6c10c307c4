import Changesets
import Documents
import Schemas
import Scopes
import SyncProtocol
import TestSupport
import Versions

@testable import SQLiteServerStore
@testable import ServerStore
@testable import Surroundings
@testable import SyncServer

/// The released server, without its network: the store, and its service for sessions.
final class SimulatedServer {
    private let location: SQLiteStore.Location
    private var store: SQLiteStore
    private var engine: SyncEngine
    private let file: ServerFileID
    private var restarts: UInt64 = 0

    private static let user = UserID("ann")
    private static let partition = Partition.string("store-42")

    init(_ location: SQLiteStore.Location) async throws {
        self.location = location
        store = try await SQLiteStore(location, versionSalts: VersionSalts(Salt(1)))
        engine = Self.engine(store, seed: 0)
        let app = try Self.app()
        file = try await store.write(.partition(app, Self.partition)) {
            try $0.makeFile(of: app, Self.partition).id
        }
    }

    private struct NoSuchApp: Error {}

    private static func app() throws -> AppID {
        guard let app = AppID("shop-abcde") else { throw NoSuchApp() }
        return app
    }

    private static func engine(_ store: SQLiteStore, seed: UInt64) -> SyncEngine {
        SyncEngine(
            store: store,
            clock: WallClock { 1_772_600_767_000 },
            random: RandomSource(SplitMix64(seed: seed)),
            snapshots: SnapshotPolicy(
                historySizeInBytes: 400,
                ratio: 0,
                changesetSizeInBytes: 120
            )
        )
    }

    /// Ends the process and starts another. A store in memory stays; one in a file is opened again,
    /// and versions made from then on have other salts.
    func restart() async throws {
        restarts += 1
        if case .file = location {
            await store.close()
            let salt = Salt(restarts + 1)
            store = try await SQLiteStore(location, versionSalts: VersionSalts(salt))
        }
        engine = Self.engine(store, seed: restarts)
    }

    /// Trims history that no client needs; returns the trimmed version.
    func trim() async throws -> ServerVersion {
        try await engine.upkeep.trim(
            try Self.app(),
            offlineLimitInMilliseconds: 1_000_000,
            connected: []
        )
        return try await store.read { [file] in
            try $0.file(file)?.baseVersion.version ?? .zero
        }
    }

    /// Makes every client start over.
    func terminate() async throws {
        try await engine.upkeep.terminate(Self.app())
    }

    func close() async {
        await store.close()
    }

    func assignIdent() async throws -> SaltedFileIdent {
        let opened = try await engine.open(
            Self.partition,
            of: Self.app(),
            for: Self.user,
            needsFileIdent: true
        )
        return opened.assigned ?? .none
    }

    func identify(_ ident: SaltedFileIdent, _ progress: SyncProgress) async throws -> ClientFile {
        let message = ClientMessage.Ident(
            session: 1,
            file: ident,
            download: progress.download,
            latestServerVersion: progress.latestServerVersion
        )
        return try await engine.identify(message, in: file, for: Self.user)
    }

    func identify(_ message: ClientMessage.Ident) async throws -> ClientFile {
        try await engine.identify(message, in: file, for: Self.user)
    }

    func integrate(_ upload: Upload) async throws -> UploadIntegration.Outcome {
        try await engine.integrate(
            upload,
            into: file,
            policy: SchemaPolicy(allowsAdditions: true)
        )
    }

    func scan(
        for ident: FileIdent,
        from cursor: DownloadCursor,
        limitInBytes: Int
    ) async throws -> DownloadScan.Batch? {
        let scan = DownloadScan(softLimitInBytes: limitInBytes)
        return try await store.read { [file] in
            try scan.run(for: ident, from: cursor, in: file, of: $0)
        }
    }

    func currentVersion() async throws -> ServerVersion? {
        try await store.read { [file] in try $0.file(file)?.currentVersion }
    }

    /// The client's reciprocals: versions, and the base that all of them must be above.
    func reciprocals(
        for ident: FileIdent
    ) async throws -> (versions: [ServerVersion], base: ServerVersion) {
        try await store.read { [file] in
            let client = try $0.clientFile(ident, in: file)
            let versions = try $0.reciprocals(for: ident, in: file, after: .zero).keys.sorted()
            return (versions, client?.upload.lastIntegratedServerVersion ?? .zero)
        }
    }

    /// The documents, read as a realm.
    func contents() async throws -> InMemoryRealm {
        try await store.read { [file] snapshot in
            let schema = try snapshot.schema(of: file)
            let form = JSONForm(schema: schema)
            var realm = InMemoryRealm(schema: schema)
            for owner in schema.classes {
                var documents: [ObjectKey: [UInt8]] = [:]
                try snapshot.forEachDocument(of: owner.name, in: file) { key, json in
                    documents[key] = json
                    return .next
                }
                for (key, json) in documents {
                    realm.setDocument(
                        try form.decodeDocument(json, of: owner),
                        for: ObjectReference(className: owner.name, key: key)
                    )
                }
            }
            return realm
        }
    }
}
