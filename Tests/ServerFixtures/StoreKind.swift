import SQLiteServerStore
package import ServerStore

/// Every implementation of the store: all of them pass the same suite.
package enum StoreKind: CaseIterable, CustomStringConvertible {
    case sqliteFile
    case sqliteInMemory

    package var description: String {
        switch self {
        case .sqliteFile: "SQLite file"
        case .sqliteInMemory: "SQLite in memory"
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
        }
    }
}
