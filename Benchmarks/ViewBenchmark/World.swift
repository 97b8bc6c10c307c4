import Changesets
import FoundationEssentials
import Logging
import Permissions
import Query
import SQLiteServerStore
import Schemas
import Scopes
import ServerStore
import Surroundings
import SyncProtocol
import SyncServer
import Transport
import Versions

/// A server with one app of flexible sync, on a store in a temporary file.
struct World: Sendable {
    private let service: SyncService
    private let store: SQLiteStore

    static let app = AppID("bench-abcde")
    static let className: Text = "Order"

    private struct Apps: SyncApps {
        let app: SyncApp
        func syncApp(_ id: AppID) -> SyncApp? { app }
        var syncApps: [SyncApp] { [app] }
    }

    private static let schema = RealmSchema([
        ClassSchema(
            name: className,
            kind: .topLevel(PrimaryKeySchema(name: "_id", type: .int, isNullable: false)),
            properties: [
                PropertySchema(name: "store", type: .string, isNullable: false),
                PropertySchema(name: "level", type: .int, isNullable: false),
                PropertySchema(name: "note", type: .string, isNullable: false),
            ]
        )
    ])

    static func with<Result: Sendable>(
        _ body: @Sendable (World) async throws -> Result
    ) async throws -> Result {
        guard let app else { preconditionFailure("the app's id is valid") }
        let directory = FileManager.default.temporaryDirectory.appending(
            path: "realm-benchmark-\(UUID().uuidString)"
        )
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let logger = Logger(label: "benchmark") { _ in SwiftLogNoOpLogHandler() }
        let store = try await SQLiteStore(
            .file(path: directory.appending(path: "store.sqlite").path),
            logger: logger
        )
        let clock = WallClock { Int64(Date().timeIntervalSince1970 * 1000) }
        let random = RandomSource(SystemRandomNumberGenerator())
        let declarations = RoleDeclarations(standard: [
            RoleDeclaration(name: "all", read: .all, write: .all)
        ])
        let settings = FlexibleSettings(
            roles: { AppRoles(declarations, $0, $1) },
            isQueryable: { $1 == "store" }
        )
        let service = SyncService(
            apps: Apps(
                app: SyncApp(
                    id: app,
                    quotas: .unlimited,
                    schema: schema,
                    flexible: settings
                )
            ),
            engine: SyncEngine(store: store, clock: clock, random: random),
            clock: clock,
            random: random,
            logger: logger
        )
        try await store.write(.app(app)) { transaction in
            let user = User(id: UserID("ann"), identities: [], isDisabled: false)
            try transaction.insert(user, of: app, at: 0)
        }
        let world = World(service: service, store: store)
        let result = try await withThrowingDiscardingTaskGroup { group in
            group.addTask { await service.keepFanningOut() }
            defer { group.cancelAll() }
            return try await body(world)
        }
        await store.close()
        return result
    }

    /// A client on a connection of its own, which ends with the client's stream.
    func client() async throws -> Client {
        guard let app = Self.app else { preconditionFailure("the app's id is valid") }
        let subProtocol = SubProtocol(mode: .flexible, version: 14)
        let (client, server) = InMemoryStream.makePair(subProtocol: subProtocol.token)
        let user = ConnectedUser(id: UserID("ann"), app: app, mustLeaveAt: .max)
        let task = Task { [service] in await service.serve(server, of: user, subProtocol) }
        return Client(client, task)
    }
}
