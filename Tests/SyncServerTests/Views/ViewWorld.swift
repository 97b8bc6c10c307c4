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

@testable import SQLiteServerStore
@testable import ServerStore
@testable import SyncServer

/// The server's engine with one app of flexible sync, and clients that speak to it without sessions.
final class ViewWorld: Sendable {
    let store: SQLiteStore
    let engine: SyncEngine
    let clock = ManualClock()
    let file: ServerFileID
    private let roles: Mutex<RoleDeclarations>
    private let limits: ViewLimits

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
        self.store = try await SQLiteStore(.memory)
        self.engine = SyncEngine(
            store: store,
            clock: clock.wallClock,
            random: .seeded(seed),
            downloadLimitInBytes: downloadLimitInBytes
        )
        self.limits = limits
        self.roles = Mutex(roles)
        self.file = try await store.write(.app(Self.app)) { transaction in
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

    func setRoles(_ declarations: RoleDeclarations) {
        roles.withLock { $0 = declarations }
    }

    var settings: FlexibleSettings {
        let declarations = roles.withLock { $0 }
        return FlexibleSettings(roles: { AppRoles(declarations, $0, $1) }, views: limits)
    }

    var context: SyncEngine.FlexibleContext {
        SyncEngine.FlexibleContext(settings: settings, isDevelopmentMode: false)
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
                of: settings.rights(of: user, schema),
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
                        objects[owner.name, default: [:]][key] = document
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
