import FoundationEssentials
import Glibc
package import Logging
import PostgreSQL
import PostgreSQLServerStore
import SQLiteServerStore
import ServerCluster
package import ServerConfig
package import ServerStore
package import Surroundings

/// Opens the configured store.
package struct StoreOpening: Sendable {
    private let secrets: SecretReader
    private let versionSalts: VersionSalts
    private let clock: WallClock
    private let program: String
    private let logger: Logger

    /// - Parameters:
    ///   - versionSalts: of a store that is one process's.
    ///   - program: the version of this program.
    package init(
        secrets: SecretReader,
        versionSalts: VersionSalts,
        clock: WallClock,
        program: String,
        logger: Logger
    ) {
        self.secrets = secrets
        self.versionSalts = versionSalts
        self.clock = clock
        self.program = program
        self.logger = logger
    }

    /// Opens it for a server, which also waits as long as the disk of a store in a file is full.
    ///
    /// Throws as ``open(_:)`` does.
    package func openForServer(_ location: StorageLocation) async throws -> OpenStore {
        try await SpaceWait(logger: logger).run { try await open(location) }
    }

    /// Waits as long as the database is away: a server may start before it.
    ///
    /// Throws `StoreError`, and `CancellationError` if the wait is cancelled.
    package func open(_ location: StorageLocation) async throws -> OpenStore {
        switch location {
        case .sqlite(let path):
            let store = try await SQLiteStore(
                .file(path: path),
                versionSalts: versionSalts,
                logger: logger
            )
            return OpenStore(store, InProcessBackplane()) { await store.close() }
        case .postgreSQL(let location):
            return try await open(location)
        }
    }

    /// Opens the store of a running server that agrees to it, for a tool beside it. The server hears of what the
    /// tool writes from the tool, or on PostgreSQL from the database.
    package func openBesideServer(_ location: StorageLocation) async throws -> OpenStore {
        guard case .sqlite(let path) = location else { return try await open(location) }
        let store = try await SQLiteStore(
            .fileOfRunningServer(path: path),
            versionSalts: versionSalts,
            logger: logger
        )
        return OpenStore(store, InProcessBackplane()) { await store.close() }
    }

    private func open(_ location: PostgreSQLLocation) async throws -> OpenStore {
        let store = try await connect(location)
        do {
            let backplane = try ClusterBackplane(
                store.target,
                schema: location.schema,
                storeID: store.storeID,
                process: process,
                clock: clock,
                logger: logger
            )
            return OpenStore(store, backplane, views: AppViews(of: store)) { await store.close() }
        } catch {
            await store.close()
            throw StoreError(.failed, "\(error)")
        }
    }

    private func connect(_ location: PostgreSQLLocation) async throws -> PostgreSQLStore {
        var options = PostgreSQLStore.Options()
        options.lanes = LaneLimits(lanes: location.pool)
        var reconnection = Reconnection<StoreError>()
        var random = SystemRandomNumberGenerator()
        var hasLogged = false
        while true {
            do throws(StoreError) {
                return try await PostgreSQLStore.open(
                    Target(location, secrets),
                    schema: location.schema,
                    options,
                    logger: logger
                )
            } catch {
                guard error.kind == .unreachable else { throw error }
                if !hasLogged {
                    logger.warning(
                        "waiting for the database",
                        metadata: ["code": "\(error.code)", "reason": "\(error)"]
                    )
                }
                hasLogged = true
                reconnection.failed(error, at: .now, using: &random)
                if let attempt = reconnection.nextAttempt {
                    try await Task.sleep(until: attempt, clock: .continuous)
                }
            }
        }
    }

    private var process: ProcessRecord {
        var name = [CChar](repeating: 0, count: 256)
        let hasName = gethostname(&name, name.count - 1) == 0
        let host = name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return ProcessRecord(
            id: UUID().uuidString.lowercased(),
            host: hasName ? String(decoding: host, as: UTF8.self) : "unknown",
            pid: getpid(),
            program: program,
            startedAt: clock.millisecondsSince1970()
        )
    }
}
