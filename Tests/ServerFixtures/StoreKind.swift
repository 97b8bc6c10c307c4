import Glibc
import PostgreSQLFixtures
import PostgreSQLServerStore
import SQLiteServerStore
package import ServerStore

/// Every implementation of the store: all of them pass the same suite.
package enum StoreKind: CustomStringConvertible, Sendable {
    case sqliteFile
    case sqliteInMemory
    case postgreSQL

    /// Those that this machine can run. Where PostgreSQL is required, its tests fail without it.
    package static let allCases: [StoreKind] =
        [.sqliteFile, .sqliteInMemory]
        + (PostgreSQLInstallation.isRequiredOrPresent ? [.postgreSQL] : [])

    package var description: String {
        switch self {
        case .sqliteFile: "SQLite file"
        case .sqliteInMemory: "SQLite in memory"
        case .postgreSQL: "PostgreSQL"
        }
    }

    /// The store of suites that need only one: in memory, or in PostgreSQL with
    /// `REALM_TEST_STORE=postgresql`.
    package static let ofRun: StoreKind =
        getenv("REALM_TEST_STORE").map { String(cString: $0) } == "postgresql"
        ? .postgreSQL : .sqliteInMemory

    /// A store that ends when it is no longer used; not in a file.
    package func makeStore() async throws -> any Store {
        switch self {
        case .sqliteFile: preconditionFailure("a store in a file is lent")
        case .sqliteInMemory: try await SQLiteStore(.memory)
        case .postgreSQL: try await PostgreSQLStores.OwnDatabase()
        }
    }

    package func withStore<Result>(_ body: (any Store) async throws -> Result) async throws
        -> Result
    {
        switch self {
        case .sqliteFile:
            try await withTemporaryDirectory { directory in
                let store = try await SQLiteStore(.file(path: "\(directory)/server.sqlite"))
                let result = try await body(store)
                await store.close()
                return result
            }
        case .sqliteInMemory:
            try await body(SQLiteStore(.memory))
        case .postgreSQL:
            try await PostgreSQLStores.withStore { try await body($0) }
        }
    }
}

extension StoreKind: CaseIterable {}
