import Changesets
import Documents
import Merge
import Query
import Schemas
import SyncProtocol
import Synchronization
import TestSupport
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// A client of flexible sync as the specification describes it, with its realm in memory (flexible
/// sync, 6 and 11; sync history, 2 to 7).
struct ViewClient {
    private struct LocalEntry {
        let version: UInt64
        let base: ServerVersion
        let timestamp: UInt64
        let original: [UInt8]
        /// The changeset rebased over later downloads.
        var reciprocal: Changeset
    }

    let ident: SaltedFileIdent
    let user: UserID
    private(set) var realm = InMemoryRealm()
    /// The active query, and its version.
    private(set) var active = (version: UInt64(0), body: "{}")
    /// Query versions whose bootstrap was complete, in order.
    private(set) var completed: [UInt64] = []
    private var sessionEpoch: UInt64 = 0
    private var version: UInt64 = 1
    private var history: [LocalEntry] = []
    private(set) var download = DownloadCursor.zero
    private var latest = SaltedServerVersion.zero
    private var acknowledged = UploadCursor.zero
    /// Rejections that wait for their version.
    private var announced: [RejectedChangeset] = []
    /// Rejections told to the program: class, key.
    private(set) var rejected: [RejectedUpdate] = []
    private(set) var forbidden: [RejectedUpdate] = []
    /// The changesets of the last download, for tests that look at messages.
    private(set) var lastChangesets: [DownloadChangeset] = []

    init(_ ident: SaltedFileIdent, of user: UserID) {
        self.ident = ident
        self.user = user
    }

    var objects: [Text: [ObjectKey: Document]] { realm.objects.filter { !$0.value.isEmpty } }

    func value(_ property: Text, of object: ObjectReference) -> Value? {
        realm.value(property, of: object)
    }

    // MARK: Writing

    mutating func commit(_ bytes: [UInt8], at timestamp: UInt64 = 1000) throws {
        let changeset = try Changeset(decoding: bytes)
        // Asymmetric objects are not kept.
        try realm.apply(AsymmetricClasses(of: ViewWorld.schema).removing(from: changeset))
        version += 1
        history.append(
            LocalEntry(
                version: version,
                base: download.serverVersion,
                timestamp: timestamp,
                original: bytes,
                reciprocal: changeset
            )
        )
    }

    mutating func write(at timestamp: UInt64 = 1000, _ body: (inout ChangesetWriter) -> Void) throws
    {
        var writer = ChangesetWriter()
        body(&writer)
        try commit(writer.bytes, at: timestamp)
    }

    // MARK: Sessions

    /// Binds and identifies; a bootstrap that is due is received, unless the connection is cut after
    /// that number of messages.
    mutating func connect(to world: ViewWorld, messages: Int = .max) async throws {
        announced = []
        let query = ClientMessage.Query(
            version: QueryVersion(active.version),
            body: Text(active.body)
        )
        let ident = ClientMessage.Ident(
            session: 1,
            file: ident,
            download: download,
            latestServerVersion: latest,
            query: query
        )
        let identified = try await world.engine.identify(
            ident,
            in: world.file,
            for: user,
            offlineLimitInMilliseconds: nil,
            subscribing: (SubscriptionSetBody(decoding: Array(active.body.utf8)), world.context)
        )
        sessionEpoch = identified.client.sessionEpoch
        announced = identified.rejected
        if case .inForce(let view, _) = identified.view {
            world.attach(session(at: world), view, at: download.serverVersion)
        }
        if identified.needsBootstrap {
            try await subscribe(active.body, as: active.version, at: world, messages: messages)
        }
    }

    /// Sends a QUERY, and receives its bootstrap, or only some of its messages.
    mutating func subscribe(
        _ body: String,
        as version: UInt64,
        at world: ViewWorld,
        messages: Int = .max
    ) async throws {
        let received = Mutex<[EngineViews.Delivery]>([])
        struct Cut: Error {}
        do {
            try await world.engine.views.subscribe(
                Subscription(
                    client: ident.ident,
                    sessionEpoch: sessionEpoch,
                    body: SubscriptionSetBody(decoding: Array(body.utf8))
                ),
                as: QueryVersion(version),
                from: world.start(of: session(at: world), from: download),
                in: world.file,
                world.context
            ) { delivery in
                try received.withLock { received in
                    guard received.count < messages else { throw Cut() }
                    received.append(delivery)
                }
            }
        } catch is Cut {}
        var staged: [DownloadChangeset] = []
        for delivery in received.withLock({ $0 }) {
            switch delivery {
            case .history(let batch):
                try integrate(batch)
            case .bootstrap(let part, let view, _):
                #expect(!part.changesets.isEmpty)
                staged += part.changesets
                guard part.isLast else { continue }
                lastChangesets = staged
                for changeset in staged { try integrate(changeset) }
                try take(part.progress)
                active = (version, body)
                completed.append(version)
                world.attach(session(at: world), view, at: download.serverVersion)
            }
        }
    }

    /// Uploads everything after the acknowledged version, as often as it is called.
    mutating func upload(to world: ViewWorld) async throws {
        let pending = history.filter { ClientVersion($0.version) > acknowledged.clientVersion }
        let outcome = try await world.engine.integrate(
            Upload(
                client: ident.ident,
                sessionEpoch: sessionEpoch,
                changesets: pending.map { entry in
                    UploadChangeset(
                        cursor: UploadCursor(
                            clientVersion: ClientVersion(entry.version),
                            lastIntegratedServerVersion: entry.base
                        ),
                        originTimestamp: OriginTimestamp(entry.timestamp),
                        originFileIdent: .none,
                        bytes: entry.original
                    )
                },
                progress: UploadCursor(
                    clientVersion: ClientVersion(version),
                    lastIntegratedServerVersion: download.serverVersion
                ),
                lockedServerVersion: .zero
            ),
            into: world.file,
            policy: SchemaPolicy(allowsAdditions: false),
            by: SyncEngine.Uploader(id: user, app: ViewWorld.app),
            flexible: world.settings
        )
        #expect(
            outcome.refused.map(\.compensatedAt) == outcome.refused.map(\.compensatedAt).sorted()
        )
        announced += outcome.refused
        forbidden += outcome.forbidden.flatMap(\.updates)
    }

    /// Downloads one message in steady state; true if that was all. `between` runs between its
    /// changesets, as a program may write there.
    mutating func downloadOnce(
        from world: ViewWorld,
        limitInBytes: Int? = nil,
        between: (inout ViewClient) throws -> Void = { _ in }
    ) async throws -> Bool {
        // Some growth is not noticed yet.
        if version % 3 != 0 { try await world.compareGrowth() }
        let batch = try #require(
            try await world.engine(limitInBytes).views.scanView(
                for: ident.ident,
                from: world.start(of: session(at: world), from: download),
                in: world.file,
                world.settings
            )
        )
        try integrate(batch, between: between)
        world.scanned(session(at: world), upTo: batch.progress.download.serverVersion)
        return batch.isComplete
    }

    /// A message that the server sends and the connection loses.
    func loseDownload(from world: ViewWorld) async throws {
        try await world.compareGrowth()
        let batch = try await world.engine.views.scanView(
            for: ident.ident,
            from: world.start(of: session(at: world), from: download),
            in: world.file,
            world.settings
        )
        guard let batch else { return }
        world.scanned(session(at: world), upTo: batch.progress.download.serverVersion)
    }

    private func session(at world: ViewWorld) -> ViewSession {
        ViewSession(file: world.file, ident: ident.ident, epoch: sessionEpoch)
    }

    mutating func downloadAll(from world: ViewWorld, limitInBytes: Int? = nil) async throws {
        while try await !downloadOnce(from: world, limitInBytes: limitInBytes) {}
    }

    // MARK: Integrating

    private mutating func integrate(
        _ batch: ViewBatch,
        between: (inout ViewClient) throws -> Void = { _ in }
    ) throws {
        lastChangesets = batch.changesets
        var last = download.serverVersion
        for changeset in batch.changesets {
            // Clients end their process over these.
            #expect(changeset.cursor.serverVersion > last)
            #expect(changeset.cursor.serverVersion <= batch.progress.download.serverVersion)
            #expect(changeset.originFileIdent != ident.ident && changeset.originFileIdent != .none)
            if let first = announced.first {
                #expect(first.compensatedAt >= changeset.cursor.serverVersion)
            }
            last = changeset.cursor.serverVersion
            try integrate(changeset)
            download = changeset.cursor
            let undone = announced.filter { $0.compensatedAt <= last }
            rejected += undone.flatMap(\.updates.updates)
            announced.removeAll { $0.compensatedAt <= last }
            try between(&self)
        }
        try take(batch.progress)
    }

    private mutating func take(_ progress: SyncProgress) throws {
        #expect(progress.download.serverVersion >= download.serverVersion)
        #expect(
            progress.download.lastIntegratedClientVersion
                >= download.lastIntegratedClientVersion
        )
        #expect(
            progress.download.lastIntegratedClientVersion <= progress.upload.clientVersion
        )
        download = progress.download
        latest = progress.latestServerVersion
        acknowledged = progress.upload
    }

    /// Merges with what the server had not seen when it made the version (sync history, 7.4).
    private mutating func integrate(_ incoming: DownloadChangeset) throws {
        let seen = incoming.cursor.lastIntegratedClientVersion.rawValue
        var theirs = [
            MergeOperand(
                changeset: try Changeset(decoding: incoming.bytes),
                stamp: Stamp(
                    timestamp: incoming.originTimestamp.rawValue,
                    fileIdent: incoming.originFileIdent.rawValue
                )
            )
        ]
        let concurrent = history.indices.filter { history[$0].version > seen }
        var ours = concurrent.map { index in
            MergeOperand(
                changeset: history[index].reciprocal,
                stamp: Stamp(
                    timestamp: history[index].timestamp,
                    fileIdent: ident.ident.rawValue
                )
            )
        }
        try rebase(ours: &ours, theirs: &theirs)
        for (index, operand) in zip(concurrent, ours) {
            history[index].reciprocal = operand.changeset
        }
        try realm.apply(theirs[0].changeset)
        version += 1
    }
}
