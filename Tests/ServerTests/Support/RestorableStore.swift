import FoundationEssentials
import PostgreSQLFixtures
import PostgreSQLServerStore
import SQLiteServerStore
import ServerFixtures
import ServerStore

/// A store that can be backed up, brought back and lost, while nothing uses it.
final class RestorableStore {
    /// The data, and the backup of it.
    private enum Place {
        case sqlite(path: String)
        case postgreSQL(TestDatabase, backup: TestDatabase?)
    }

    private var place: Place
    private var close: @Sendable () async -> Void = {}

    /// - Parameter directory: of a store in a file.
    init(_ kind: StoreKind, directory: String) throws {
        place =
            switch kind {
            case .postgreSQL: .postgreSQL(try PostgreSQLStores.database(), backup: nil)
            case .sqliteFile, .sqliteInMemory: .sqlite(path: "\(directory)/server.sqlite")
            }
    }

    /// The store, as a process of its own opens it.
    func open() async throws -> any Store {
        switch place {
        case .sqlite(let path):
            let store = try await SQLiteStore(.file(path: path))
            close = { await store.close() }
            return store
        case .postgreSQL(let database, _):
            // One connection, and so one salt of versions for each process.
            var options = PostgreSQLStore.Options()
            options.lanes.lanes = 1
            let store = try await PostgreSQLStore.open(database.target(), options)
            close = { await store.close() }
            return store
        }
    }

    func stop() async {
        await close()
        close = {}
    }

    func backUp() throws {
        switch place {
        case .sqlite(let path):
            try FileManager.default.copyItem(atPath: path, toPath: Self.backup(of: path))
        case .postgreSQL(let database, _):
            place = .postgreSQL(database, backup: try Self.copy(database))
        }
    }

    func restore() throws {
        switch place {
        case .sqlite(let path):
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: Self.backup(of: path), toPath: path)
        case .postgreSQL(let database, let backup):
            place = .postgreSQL(try backup.map(Self.copy) ?? database, backup: backup)
        }
    }

    func wipe() throws {
        switch place {
        case .sqlite(let path): try FileManager.default.removeItem(atPath: path)
        case .postgreSQL:
            place = .postgreSQL(try PostgreSQLStores.database(), backup: nil)
        }
    }

    private static func backup(of path: String) -> String { "\(path).backup" }

    private static func copy(_ database: TestDatabase) throws -> TestDatabase {
        try TestDatabase(options: "TEMPLATE \(database.name)")
    }
}
