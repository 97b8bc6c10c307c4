import Logging
import NIOSSL
import PostgreSQLServerStore
import ServerFixtures
import ServiceLifecycle
import Settings
import SyncProtocol
import Transport

@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// A server with two apps, reached through memory or through real sockets: what holds for one must
/// hold for the other.
struct SyncWorld: Sendable {
    enum Carrier: CaseIterable, CustomStringConvertible {
        case memory
        case webSocket

        var description: String {
            switch self {
            case .memory: "in memory"
            case .webSocket: "over WebSocket"
            }
        }
    }

    let apps: TestApps
    private let carrier: Carrier
    /// In memory.
    private let service: SyncService
    /// Over WebSocket.
    private let address: ListenAddress?
    private let services: ServiceGroup?

    /// Starts the server, lends it, and stops it.
    static func with<Result: Sendable>(
        _ carrier: Carrier,
        apps configurations: [ServedAppConfiguration] = TestApps.configurations,
        timing: ServerTiming = ServerTiming(),
        store: (any Store)? = nil,
        seed: UInt64 = 1,
        log: LogRecorder? = nil,
        _ body: @escaping @Sendable (SyncWorld) async throws -> Result
    ) async throws -> Result {
        let apps = try await TestApps(store: store, apps: configurations, seed: seed)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let service = SyncService.testing(apps, timing: timing, seed: seed &+ 6, log: log)
        switch carrier {
        case .memory:
            return try await withThrowingDiscardingTaskGroup { group in
                group.addTask { await service.keepFanningOut() }
                group.addTask { await service.keepTime() }
                defer { group.cancelAll() }
                return try await body(
                    SyncWorld(
                        apps: apps,
                        carrier: carrier,
                        service: service,
                        address: nil,
                        services: nil
                    )
                )
            }
        case .webSocket:
            let (addresses, continuation) = AsyncStream<ListenAddress>.makeStream()
            let server = try await RealmServer(
                ServerConfiguration(
                    listen: ListenAddress(host: "127.0.0.1", port: 0),
                    storage: .standard,
                    apps: configurations
                ),
                store: apps.store,
                clock: apps.clock.wallClock,
                random: .seeded(9),
                timing: timing,
                logger: logger,
                onListening: { continuation.yield($0) }
            )
            let services = ServiceGroup(services: [server], logger: logger)
            return try await withThrowingTaskGroup(of: Result?.self) { group in
                group.addTask {
                    try await services.run()
                    return nil
                }
                group.addTask {
                    var iterator = addresses.makeAsyncIterator()
                    guard let address = await iterator.next() else { return nil }
                    return try await body(
                        SyncWorld(
                            apps: apps,
                            carrier: carrier,
                            service: service,
                            address: address,
                            services: services
                        )
                    )
                }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let result { return result }
                }
                throw CancellationError()
            }
        }
    }

    /// Lends two processes of one server, in memory: each has a store object, an end of the backplane,
    /// settings, random numbers and an index of views of its own.
    static func withTwoProcesses<Result: Sendable>(
        _ kind: BackplaneKind,
        apps configurations: [ServedAppConfiguration],
        _ body: @escaping @Sendable (SyncWorld, SyncWorld) async throws -> Result
    ) async throws -> Result {
        switch kind {
        case .inProcess:
            let apps = try await TestApps(apps: configurations)
            let other = try await TestApps(
                store: apps.store,
                apps: configurations,
                backplane: apps.accounts.backplane,
                seed: 50
            )
            return try await running(apps, other, body)
        case .postgreSQL:
            let cluster = try ClusterDatabase()
            let ends = [try cluster.process(), try cluster.process()]
            let stores = [
                try await PostgreSQLStore.open(cluster.target()),
                try await PostgreSQLStore.open(cluster.target()),
            ]
            let apps = try await TestApps(
                store: stores[0],
                apps: configurations,
                backplane: ends[0],
                seed: 1
            )
            let other = try await TestApps(
                store: stores[1],
                apps: configurations,
                backplane: ends[1],
                seed: 50
            )
            let result = try await ClusterDatabase.running(
                ends,
                following: [apps, other].map { apps in { await apps.accounts.follow($0) } },
                { try await running(apps, other, body) }
            )
            for store in stores { await store.close() }
            return result
        }
    }

    private static func running<Result: Sendable>(
        _ apps: TestApps,
        _ other: TestApps,
        _ body: @escaping @Sendable (SyncWorld, SyncWorld) async throws -> Result
    ) async throws -> Result {
        let worlds = [(apps, UInt64(7)), (other, 70)].map { apps, seed in
            SyncWorld(
                apps: apps,
                carrier: .memory,
                service: .testing(apps, seed: seed),
                address: nil,
                services: nil
            )
        }
        return try await withThrowingDiscardingTaskGroup { group in
            for world in worlds { group.addTask { await world.service.keepFanningOut() } }
            defer { group.cancelAll() }
            return try await body(worlds[0], worlds[1])
        }
    }

    /// Lets the server stop in order, as a signal does.
    func stop() async {
        await services?.triggerGracefulShutdown()
    }

    /// Another process of the same server, in memory: it shares the store and the backplane.
    func otherProcess() -> SyncWorld {
        SyncWorld(
            apps: apps,
            carrier: .memory,
            // Each process has random numbers of its own.
            service: .testing(apps, seed: 70),
            address: nil,
            services: nil
        )
    }

    /// A process in memory with a store and a backplane of its own, those of its apps.
    static func process(of apps: TestApps, seed: UInt64) -> SyncWorld {
        SyncWorld(
            apps: apps,
            carrier: .memory,
            service: .testing(apps, seed: seed),
            address: nil,
            services: nil
        )
    }

    /// An operator's calls of the server in memory.
    var admin: TestAdmin { TestAdmin(apps, service) }

    /// The server in memory.
    var sync: SyncService { service }

    /// A user that has just logged in.
    struct LoggedIn: Sendable {
        let user: ConnectedUser
        let token: String
    }

    func logIn(to app: AppID = TestApps.shop) async throws -> LoggedIn {
        let token = await apps.logInAnonymously(to: app).fields["access_token"] ?? ""
        return LoggedIn(
            user: try await apps.accounts.authorizeSync(token, app: app),
            token: token
        )
    }

    /// Connects a client, lends it, and disconnects it.
    func connect<Result: Sendable>(
        as user: LoggedIn? = nil,
        version: Int = 14,
        mode: SyncMode = .partitionBased,
        _ body: @escaping @Sendable (TestClient) async throws -> Result
    ) async throws -> Result {
        let loggedIn: LoggedIn
        if let user { loggedIn = user } else { loggedIn = try await logIn() }
        let subProtocol = SubProtocol(mode: mode, version: version)
        switch carrier {
        case .memory:
            let (client, server) = InMemoryStream.makePair(subProtocol: subProtocol.token)
            return try await withThrowingTaskGroup(of: Void.self) { [service] group in
                group.addTask { await service.serve(server, of: loggedIn.user, subProtocol) }
                let result = try await body(TestClient(client, mode: mode))
                await client.close(.normal, reason: "")
                // The server detects it, and closes the connection.
                try await group.waitForAll()
                return result
            }
        case .webSocket:
            guard let address else { preconditionFailure("there is a server") }
            let webSocket = try WebSocketClient(
                tls: .makeClientConfiguration(),
                connectTimeout: .seconds(180),
                maximumMessageSizeInBytes: Limits.client.messageSizeInBytes
            )
            let path = "/api/client/v2.0/app/\(loggedIn.user.app)/realm-sync"
            return try await webSocket.withConnection(
                to: "ws://\(address)\(path)",
                .init(query: "baas_at=\(loggedIn.token)", subProtocols: [subProtocol.token])
            ) { stream in
                try await body(TestClient(stream, mode: mode))
            }
        }
    }
}

extension SyncService {
    /// On the store and the clock of the apps.
    static func testing(
        _ apps: TestApps,
        timing: ServerTiming = ServerTiming(),
        seed: UInt64 = 7,
        log: LogRecorder? = nil
    ) -> SyncService {
        let logger = log?.logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        return SyncService(
            apps: ServedSyncApps(apps.accounts.apps, logger: logger),
            backplane: apps.accounts.backplane,
            engine: SyncEngine(
                store: apps.store,
                clock: apps.clock.wallClock,
                random: .seeded(seed)
            ),
            clock: apps.clock.wallClock,
            random: .seeded(seed + 1),
            timing: timing,
            logger: logger
        )
    }
}
