import Changesets
import LocalRealm
import Logging
import SQLite
import Scheduling
import Schemas
import Scopes
import SyncProtocol
import TestSupport
import Versions

@testable import SyncClient

/// A realm with one class, in a file of its own, on the connection of its user.
enum RealmOnConnection {
    static let file = SaltedFileIdent(ident: FileIdent(7), salt: Salt(1234))

    /// Runs connection and realm while the body does. The first back-off is so long that only what
    /// needs none happens in time.
    static func withRealm(
        _ endpoint: ScriptedEndpoint,
        reconnect: ReconnectDelay<DisconnectReason>.Parameters = .init(initial: .seconds(600)),
        busyTimeout: Duration = .seconds(5),
        _ body: (RealmClient, String) async throws -> Void
    ) async throws {
        try await with(endpoint, reconnect: reconnect, busyTimeout: busyTimeout) { realm, _, path in
            try await body(realm, path)
        }
    }

    static func with(
        _ endpoint: ScriptedEndpoint,
        timing: ConnectionTiming = ConnectionTiming(),
        reconnect: ReconnectDelay<DisconnectReason>.Parameters = .init(initial: .seconds(600)),
        busyTimeout: Duration = .seconds(5),
        mergeLimitInPairs: Int? = nil,
        time: SyncTime = .continuous,
        report: @escaping @Sendable (RealmClientEvent) -> Void = { _ in },
        measured: @escaping @Sendable (NetworkQuality.Reading) -> Void = { _ in },
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
        _ body: (RealmClient, UserConnection, String) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("test.sqlite")
        let realm = try await open(
            path,
            time: time,
            busyTimeout: busyTimeout,
            mergeLimitInPairs: mergeLimitInPairs,
            report,
            logger
        )
        let connection = UserConnection(
            endpoint: endpoint,
            timing: timing,
            reconnect: reconnect,
            time: time,
            random: SplitMix64(seed: 2),
            logger: logger,
            measured: measured
        )
        try await withThrowingTaskGroup { group in
            await connection.join(realm)
            group.addTask { await connection.run() }
            group.addTask { try await connection.run(realm, joins: false) }
            try await body(realm, connection, path)
            group.cancelAll()
        }
        await realm.close()
        withExtendedLifetime(directory) {}
    }

    static func open(
        _ path: String,
        time: SyncTime,
        busyTimeout: Duration,
        mergeLimitInPairs: Int? = nil,
        environment: RealmEnvironment = .process,
        _ report: @escaping @Sendable (RealmClientEvent) -> Void,
        _ logger: Logger
    ) async throws -> RealmClient {
        var schema = RealmSchema()
        schema.update(
            ClassSchema(
                name: "Item",
                kind: .topLevel(.init(name: "_id", type: .int, isNullable: false)),
                properties: [PropertySchema(name: "note", type: .string, isNullable: true)]
            )
        )
        var configuration = LocalRealmConfiguration(
            path: path,
            owner: RealmOwner(appID: "app", userID: "user", scope: .partition(.string("p"))),
            machineID: "machine",
            schema: schema,
            busyTimeout: busyTimeout
        )
        if let mergeLimitInPairs { configuration.mergeLimitInPairs = mergeLimitInPairs }
        return try await RealmClient.open(
            configuration,
            name: "test",
            captureDelay: .milliseconds(1),
            time: time,
            now: { 1_700_000_000_000 },
            environment: environment,
            logs: RealmLogs { _ in logger },
            report: report
        )
    }

    static func insert(_ path: String, _ id: Int) throws {
        let connection = try Connection(path: path)
        try connection.execute("INSERT INTO \"Item\"(_id, note) VALUES (\(id), 'x')")
        connection.close()
    }

    /// Inserts so many rows that each fill a page.
    static func insertPages(_ path: String, count: Int) throws {
        let connection = try Connection(path: path)
        try connection.execute(
            """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
            INSERT INTO "Item"(_id, note) SELECT 1000 + i, hex(randomblob(2000)) FROM n
            """
        )
        connection.close()
    }
}
