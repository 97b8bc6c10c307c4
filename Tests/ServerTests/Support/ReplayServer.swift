import FoundationEssentials
import Logging
import PostgreSQLFixtures
import PostgreSQLServerStore
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
    /// The server's data, and the backup of it.
    private enum Place {
        case sqlite(path: String)
        case postgreSQL(TestDatabase, backup: TestDatabase?)
    }

    private var place: Place
    private var store: any Store
    private var closeStore: @Sendable () async -> Void
    private var service: SyncService
    private var connections: [Task<Void, Never>] = []
    private var generation: UInt64 = 1

    private static let app = ServedAppConfiguration(id: .named("demo"), isDevelopmentMode: true)

    /// - Parameter directory: of a store in a file.
    init(_ kind: StoreKind, directory: String) async throws {
        place =
            switch kind {
            case .postgreSQL: .postgreSQL(try PostgreSQLStores.database(), backup: nil)
            case .sqliteFile, .sqliteInMemory: .sqlite(path: "\(directory)/server.sqlite")
            }
        (store, closeStore) = try await Self.open(place)
        service = Self.service(on: store, seed: 1)
    }

    private static func open(
        _ place: Place
    ) async throws -> (any Store, @Sendable () async -> Void) {
        switch place {
        case .sqlite(let path):
            let store = try await SQLiteStore(.file(path: path))
            return (store, { await store.close() })
        case .postgreSQL(let database, _):
            // One connection, and so one salt, as of the recorded process.
            var options = PostgreSQLStore.Options()
            options.lanes.lanes = 1
            let store = try await PostgreSQLStore.open(database.target(), options)
            return (store, { await store.close() })
        }
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
        switch place {
        case .sqlite(let path): try Self.suffer(mishap, path)
        case .postgreSQL(let database, let backup):
            place = try Self.suffer(mishap, database, backup)
        }
        generation += 1
        (store, closeStore) = try await Self.open(place)
        service = Self.service(on: store, seed: generation)
    }

    private static func suffer(
        _ mishap: RecordedConversationVectorTests.Mishap,
        _ path: String
    ) throws {
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
    }

    private static func suffer(
        _ mishap: RecordedConversationVectorTests.Mishap,
        _ database: TestDatabase,
        _ backup: TestDatabase?
    ) throws -> Place {
        func copy(_ database: TestDatabase) throws -> TestDatabase {
            try TestDatabase(options: "TEMPLATE \(database.name)")
        }
        return switch mishap {
        case .backup: .postgreSQL(database, backup: try copy(database))
        case .restore: .postgreSQL(try backup.map(copy) ?? database, backup: backup)
        case .wipe: .postgreSQL(try PostgreSQLStores.database(), backup: nil)
        }
    }

    func stop() async {
        for connection in connections { await connection.value }
        connections = []
        await closeStore()
    }
}
