import Changesets
import Documents
import Permissions
import Query
import Schemas
import Scopes
import ServerFixtures
import SyncProtocol
import Synchronization
import Testing
import Versions

@testable import ServerStore
@testable import SyncServer

/// The server's engine with one app of flexible sync, and clients that speak to it without sessions.
final class ViewWorld: Sendable {
    /// In memory, or in PostgreSQL with `REALM_TEST_STORE=postgresql`.
    let store: any Store
    let engine: SyncEngine
    let clock = ManualClock()
    let file: ServerFileID
    private let roles: Mutex<RoleDeclarations>
    private let limits: ViewLimits
    private let sink = Mutex<(any ObjectSink)?>(nil)
    /// Nil: all fields are queryable.
    private let queryable = Mutex<Set<Text>?>(nil)
    private let customUserData = Mutex<CustomUserDataSource?>(nil)
    /// The index over the clients' views; nil: each client scans from its cursor.
    private let fanout = Mutex<FileFanout?>(FileFanout(from: .zero))

    static let app = AppID.named("shop-abcde")
    static let ann = UserID("ann")

    static let schema = RealmSchema([
        ClassSchema(
            name: "Person",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [
                PropertySchema(name: "age", type: .int, isNullable: false),
                PropertySchema(name: "name", type: .string, isNullable: false),
                PropertySchema(name: "owner", type: .string, isNullable: false),
                PropertySchema(
                    name: "tags",
                    type: .string,
                    isNullable: false,
                    collection: .list
                ),
            ]
        ),
        ClassSchema(
            name: "Dog",
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [PropertySchema(name: "age", type: .int, isNullable: false)]
        ),
        ClassSchema(
            name: "Reading",
            kind: .asymmetric(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [PropertySchema(name: "value", type: .int, isNullable: false)]
        ),
    ])

    static let allUsers = RoleDeclarations(standard: [
        RoleDeclaration(name: "all", read: .all, write: .all)
    ])

    init(
        downloadLimitInBytes: Int = 1 << 20,
        limits: ViewLimits = ViewLimits(),
        roles: RoleDeclarations = ViewWorld.allUsers,
        seed: UInt64 = 1
    ) async throws {
        self.store = try await StoreKind.ofRun.makeStore()
        self.engine = SyncEngine(
            store: store,
            clock: clock.wallClock,
            random: .seeded(seed),
            downloadLimitInBytes: downloadLimitInBytes
        )
        self.limits = limits
        self.roles = Mutex(roles)
        self.file = try await store.write(.app(Self.app)) { transaction in
            // A termination is recorded with the app.
            try transaction.insert(AppRecord(id: Self.app, domainID: "d", keys: []), at: 0)
            for name in ["ann", "bob"] {
                let user = User(id: UserID(name), identities: [], isDisabled: false)
                try transaction.insert(user, of: Self.app, at: 0)
            }
            return try transaction.makeFile(of: Self.app, .flexible).id
        }
        _ = try await engine.open(
            .flexible,
            of: Self.app,
            for: Self.ann,
            needsFileIdent: false,
            schema: Self.schema
        )
    }

    /// The engine with another length of messages.
    func engine(_ limitInBytes: Int?) -> SyncEngine {
        guard let limitInBytes else { return engine }
        return SyncEngine(
            store: store,
            clock: clock.wallClock,
            random: .seeded(),
            downloadLimitInBytes: limitInBytes
        )
    }

    func setQueryable(_ fields: Set<Text>?) { queryable.withLock { $0 = fields } }

    func setCustomUserData(_ source: CustomUserDataSource) {
        customUserData.withLock { $0 = source }
    }

    func setSink(_ new: any ObjectSink) { sink.withLock { $0 = new } }

    // MARK: Fan-out

    func attach(_ session: ViewSession, _ view: ClientView, at position: ServerVersion) {
        fanout.withLock { _ = $0?.attach(session, view, at: position) }
    }

    /// Compares what the history has grown by with all views, as a process of the server does.
    func compareGrowth() async throws {
        guard let examined = fanout.withLock({ $0?.examined }) else { return }
        let growth = try await engine.views.growth(of: file, after: examined) { [settings] _ in
            settings
        }
        guard let growth else { return }
        fanout.withLock { _ = $0?.note(growth) }
    }

    /// The start of a client's next scan. The slow path is the oracle: a scan of everything has the same
    /// changesets, none if the client need not scan.
    func start(
        of session: ViewSession,
        from cursor: DownloadCursor
    ) async throws -> DownloadCursor {
        let version = fanout.withLock { $0?.start(of: session, from: cursor.serverVersion) }
        guard let version, version > cursor.serverVersion else { return cursor }
        let start = DownloadCursor(
            serverVersion: version,
            lastIntegratedClientVersion: cursor.lastIntegratedClientVersion
        )
        let scan = ViewScan(settings: settings, softLimitInBytes: .max, now: OriginTimestamp(0))
        let (whole, rest) = try await store.read { [file] snapshot in
            (
                try scan.run(for: session.ident, from: cursor, in: file, of: snapshot),
                try scan.run(for: session.ident, from: start, in: file, of: snapshot)
            )
        }
        #expect(whole?.changesets == rest?.changesets)
        #expect(whole?.progress == rest?.progress)
        skippedVersions.add(
            Int(version.rawValue - cursor.serverVersion.rawValue),
            ordering: .relaxed
        )
        return start
    }

    /// Versions that clients need not scan.
    let skippedVersions = Atomic(0)

    func scanned(_ session: ViewSession, upTo version: ServerVersion) {
        fanout.withLock { $0?.scanned(session, upTo: version) }
    }

    /// From now on clients scan from their cursors.
    func stopFanout() { fanout.withLock { $0 = nil } }

    func setRoles(_ declarations: RoleDeclarations) {
        roles.withLock { $0 = declarations }
    }

    var settings: FlexibleSettings {
        let declarations = roles.withLock { $0 }
        return FlexibleSettings(
            roles: { AppRoles(declarations, $0, $1) },
            isQueryable: { [fields = queryable.withLock { $0 }] in fields?.contains($1) ?? true },
            views: limits,
            sink: sink.withLock { $0 },
            customUserData: customUserData.withLock { $0 }
        )
    }

    var context: FlexibleContext {
        FlexibleContext(settings: settings, isDevelopmentMode: false)
    }

    /// A client file that was never bound.
    func client(of user: UserID = ViewWorld.ann) async throws -> ViewClient {
        let opened = try await engine.open(
            .flexible,
            of: Self.app,
            for: user,
            needsFileIdent: true
        )
        return ViewClient(try #require(opened.assigned), of: user)
    }

    /// The server's objects that a view has, by the evaluator alone.
    func expectedRealm(_ body: String, of user: UserID) async throws -> [Text: [ObjectKey:
        Document]]
    {
        let settings = settings
        return try await store.read { [file] snapshot in
            let schema = try snapshot.schema(of: file)
            let user = try #require(try snapshot.user(user, of: Self.app))
            let view = try settings.view(
                SubscriptionSetBody(decoding: Array(body.utf8)),
                of: settings.rights(of: user, in: Self.app, schema, snapshot),
                schema,
                acceptsUnknownClasses: false
            )
            let form = JSONForm(schema: schema)
            var objects: [Text: [ObjectKey: Document]] = [:]
            for owner in schema.classes where !owner.isAsymmetric && !owner.isEmbedded {
                try snapshot.forEachDocument(of: owner.name, in: file) {
                    key,
                    json throws(StoreError) in
                    guard let document = try? form.decodeDocument(json, of: owner) else {
                        throw StoreError(.unusable, "a document is damaged")
                    }
                    let object = DocumentObject(key: key, document, of: owner)
                    if view.contains(object, owner.name) {
                        objects[owner.name, default: [:]][key] = document.masked(
                            view.fields(of: owner.name),
                            of: owner
                        )
                    }
                    return .next
                }
            }
            return objects
        }
    }

    func serverFile() async throws -> ServerFile {
        let stored = try await store.read { [file] snapshot in try snapshot.file(file) }
        return try #require(stored)
    }

    /// Whether the history ever had the object.
    func hasEverHad(_ object: ObjectReference) async throws -> Bool {
        try await store.read { [file] snapshot in
            try !snapshot.touches(of: object, in: file, after: .zero).isEmpty
        }
    }
}
