import PostgreSQL
package import PostgreSQLFixtures
package import PostgreSQLServerStore
package import ServerStore

/// Stores in PostgreSQL for tests, each in a database of its own.
package enum PostgreSQLStores {
    /// A database with the tables of an empty store; copies of it are made faster than tables.
    private static let template = Result { () throws -> TestDatabase in
        let database = try TestDatabase()
        _ = try PostgreSQLLayout.prepare(connection(to: database), schema: "realm")
        return database
    }

    private static func connection(to database: TestDatabase) throws(PostgreSQLError) -> Connection
    {
        var target = database.target()
        target.schema = "realm"
        return try Connection(target, deadline: .after(.seconds(60)))
    }

    /// A database with the tables of an empty store.
    package static func database() throws -> TestDatabase {
        try TestDatabase(options: "TEMPLATE \(template.get().name)")
    }

    /// A store whose database is dropped with it.
    package final class OwnDatabase: Store {
        private let database: TestDatabase
        private let store: PostgreSQLStore

        package init() async throws {
            database = try PostgreSQLStores.database()
            store = try await PostgreSQLStore.open(database.target())
        }

        package func write<Outcome: Sendable>(
            _ request: WriteRequest,
            _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
        ) async throws -> Outcome {
            try await store.write(request, body)
        }

        package func read<Outcome: Sendable>(
            _ request: ReadRequest,
            _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
        ) async throws -> Outcome {
            try await store.read(request, body)
        }

        package func holdingState<Outcome: Sendable>(
            _ body: @Sendable (any HeldState) async throws -> Outcome
        ) async throws -> Outcome {
            try await store.holdingState(body)
        }
    }

    /// Lends a store in a database of its own.
    package static func withStore<Result>(
        _ options: PostgreSQLStore.Options = PostgreSQLStore.Options(),
        _ body: (PostgreSQLStore) async throws -> Result
    ) async throws -> Result {
        let database = try database()
        return try await withStore(in: database, options, body)
    }

    /// Lends a store of that database; several share it.
    package static func withStore<Result>(
        in database: TestDatabase,
        _ options: PostgreSQLStore.Options = PostgreSQLStore.Options(),
        _ body: (PostgreSQLStore) async throws -> Result
    ) async throws -> Result {
        let store = try await PostgreSQLStore.open(database.target(), options)
        do {
            let result = try await body(store)
            await store.close()
            return result
        } catch {
            await store.close()
            throw error
        }
    }
}
