import FoundationEssentials
import Glibc
package import Logging
package import PostgreSQL
package import PostgreSQLFixtures
import PostgreSQLServerStore
package import ServerCluster
package import ServerStore
package import Surroundings
import TestSupport

/// Every implementation of the backplane: all of them pass the same suite.
package enum BackplaneKind: CaseIterable, CustomStringConvertible {
    case inProcess
    case postgreSQL

    package var description: String {
        switch self {
        case .inProcess: "in one process"
        case .postgreSQL: "on PostgreSQL"
        }
    }

    /// Those that this machine can run.
    package static var here: [BackplaneKind] {
        PostgreSQLInstallation.isRequiredOrPresent ? allCases : [.inProcess]
    }

    /// Lends the ends of one backplane, one for each process.
    package func withProcesses<Result>(
        _ count: Int,
        _ body: ([any Backplane]) async throws -> Result
    ) async throws -> Result {
        switch self {
        case .inProcess:
            let backplane = InProcessBackplane()
            return try await body(Array(repeating: backplane, count: count))
        case .postgreSQL:
            let database = try ClusterDatabase()
            let processes = try (0..<count).map { _ in try database.process() }
            return try await ClusterDatabase.running(processes) { try await body(processes) }
        }
    }
}

/// A database with the store's tables, for processes that share it.
package final class ClusterDatabase: Sendable {
    package let database: TestDatabase
    private let storeID: String
    package static let schema = "realm"

    package init() throws {
        database = try TestDatabase()
        let connection = try Connection(Self.target(database), deadline: .after(.seconds(60)))
        storeID = try PostgreSQLLayout.prepare(connection, schema: Self.schema).storeID
    }

    /// For processes of a store that exists.
    package init(_ database: TestDatabase, storeID: String) {
        self.database = database
        self.storeID = storeID
    }

    private static func target(_ database: TestDatabase, _ host: Target.Host? = nil) -> Target {
        var target = database.target(host)
        target.schema = schema
        return target
    }

    /// Runs statements as the superuser, in the store's schema.
    package func sql(_ text: String) throws {
        try Connection(target(), deadline: .after(.seconds(60))).execute(text)
    }

    /// Reads an app's record again.
    package typealias Follow = @Sendable (AppID) async -> SyncState?

    private static let servesNone: Follow = { _ in nil }

    /// Runs processes until the body ends.
    ///
    /// - Parameter follow: that of each process; empty if none serves apps.
    package static func running<Result>(
        _ processes: [ClusterBackplane],
        following follow: [Follow] = [],
        _ body: () async throws -> Result
    ) async throws -> Result {
        let tasks = processes.enumerated().map { index, process in
            let follow = follow.isEmpty ? servesNone : follow[index]
            return Task { await process.run(following: follow) }
        }
        let result: Swift.Result<Result, any Error>
        do {
            try await until { processes.allSatisfy { $0.obstacle == nil } }
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
        return try result.get()
    }

    /// - Parameter host: nil is the server's socket.
    package func target(_ host: Target.Host? = nil) -> Target {
        Self.target(database, host)
    }

    /// One process of a server, which does not run yet.
    package func process(
        _ host: Target.Host? = nil,
        clock: WallClock = WallClock { WallClockFixture.now() },
        pollInterval: Duration = .milliseconds(200),
        logger: Logger? = nil
    ) throws -> ClusterBackplane {
        try ClusterBackplane(
            target(host),
            schema: Self.schema,
            storeID: storeID,
            process: ProcessRecord(
                id: UUID().uuidString,
                host: "test",
                pid: getpid(),
                program: "1.0",
                startedAt: 0
            ),
            clock: clock,
            pollInterval: pollInterval,
            logger: logger ?? Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
    }
}

/// The system's time, for what is compared with a database's.
package enum WallClockFixture {
    /// Milliseconds since 1970.
    package static func now() -> Int64 {
        Int64(Date().timeIntervalSince1970 * 1000)
    }
}
