import Logging
import ServerFixtures
import SyncProtocol
import Transport

@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// A server whose store can be backed up, brought back and lost, each time with a process of its own.
final class ReplayServer {
    private let storage: RestorableStore
    private var service: SyncService
    private var connections: [Task<Void, Never>] = []
    private var generation: UInt64 = 1

    private static let app = ServedAppConfiguration(id: .named("demo"), isDevelopmentMode: true)

    /// - Parameter directory: of a store in a file.
    init(_ kind: StoreKind, directory: String) async throws {
        storage = try RestorableStore(kind, directory: directory)
        service = Self.service(on: try await storage.open(), seed: 1)
    }

    private static func service(on store: any Store, seed: UInt64) -> SyncService {
        let clock = ManualClock().wallClock
        let apps = AppDirectory()
        apps.put(
            ServedApp(
                configuration: app,
                domainID: "65a1f0c2e4b0a1b2c3d4e5a0",
                syncState: .enabled,
                isFromFile: true
            )
        )
        return SyncService(
            apps: apps,
            engine: SyncEngine(store: store, clock: clock, random: .seeded(seed)),
            clock: clock,
            random: .seeded(seed + 1000),
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }

    func connect() -> InMemoryStream {
        let subProtocol = SubProtocol(mode: .partitionBased, version: 14)
        let (client, server) = InMemoryStream.makePair(subProtocol: subProtocol.token)
        let user = ConnectedUser(id: UserID("ann"), app: Self.app.id, mustLeaveAt: .max)
        connections.append(
            Task { [service] in await service.serve(server, of: user, subProtocol) }
        )
        return client
    }

    func suffer(_ mishap: RecordedConversationVectorTests.Mishap?) async throws {
        guard let mishap else { return }
        await stop()
        switch mishap {
        case .backup: try storage.backUp()
        case .restore: try storage.restore()
        case .wipe: try storage.wipe()
        }
        generation += 1
        service = Self.service(on: try await storage.open(), seed: generation)
    }

    func stop() async {
        for connection in connections { await connection.value }
        connections = []
        await storage.stop()
    }
}
