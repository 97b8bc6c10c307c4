package import ServerStore

/// A store that is told nothing that it could make use of: no expected reads and no sizes, and one
/// transaction at a time.
package actor PlainStore: Store {
    private let store: any Store
    private var last: Task<Void, Never>?

    package init(_ store: any Store) {
        self.store = store
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        let plain = WriteRequest(
            scope: request.scope,
            owner: request.owner,
            session: request.session
        )
        let write = Task { [previous = last, store] in
            await previous?.value
            return try await store.write(plain, body)
        }
        last = Task { _ = await write.result }
        return try await write.value
    }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try await store.read(ReadRequest(session: request.session), body)
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }
}
