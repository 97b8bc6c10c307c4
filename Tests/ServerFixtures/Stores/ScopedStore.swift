package import ServerStore

/// A store that rejects writes outside the scope of their request, as if nothing else were locked.
package final class ScopedStore: Store {
    private let store: any Store

    package init(_ store: any Store) {
        self.store = store
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await store.write(request) { transaction in
            try body(ScopedTransaction(transaction, within: request.scope))
        }
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
