package import ServerStore

/// A store that runs each body twice, as after a deadlock or a lost connection: the first run is rolled
/// back, and only the second one counts.
package final class RepeatingStore: Store {
    private struct RolledBack: Error {}

    private let store: any Store

    package init(_ store: any Store) {
        self.store = store
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        // Also an error of the body is one of a run that did not count.
        _ = try? await store.write(request) { transaction in
            _ = try body(transaction)
            throw RolledBack()
        }
        return try await store.write(request, body)
    }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        _ = try? await store.read(request, body)
        return try await store.read(request, body)
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }
}
