import FoundationEssentials
import Logging
import ServerFixtures
import SyncProtocol
import Transport

@testable import SQLiteServerStore
@testable import Server
@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore
@testable import SyncServer

/// A server whose store can be backed up, brought back and lost, each time with a process of its own.
final class ReplayServer {
    private let path: String
    private var store: SQLiteStore
    private var service: SyncService
    private var connections: [Task<Void, Never>] = []
    private var generation: UInt64 = 1

    private static let app = ServedAppConfiguration(id: .named("demo"), isDevelopmentMode: true)

    init(directory: String) async throws {
        self.path = "\(directory)/server.sqlite"
        self.store = try await SQLiteStore(.file(path: path))
        self.service = Self.service(on: store, seed: 1)
    }

    private static func service(on store: SQLiteStore, seed: UInt64) -> SyncService {
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
        let backup = "\(path).backup"
        let files = FileManager.default
        switch mishap {
        case .backup:
            try files.copyItem(atPath: path, toPath: backup)
        case .restore:
            try files.removeItem(atPath: path)
            try files.copyItem(atPath: backup, toPath: path)
        case .wipe:
            try files.removeItem(atPath: path)
        }
        generation += 1
        store = try await SQLiteStore(.file(path: path))
        service = Self.service(on: store, seed: generation)
    }

    func stop() async {
        for connection in connections { await connection.value }
        connections = []
        await store.close()
    }
}
