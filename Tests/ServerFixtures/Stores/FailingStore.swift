package import ServerStore
import Synchronization

/// A store whose next transactions fail.
package final class FailingStore: Store {
    private let store: any Store
    private let failures = Mutex<(count: Int, kind: StoreError.Kind)>((0, .locked))

    package init(_ store: any Store) {
        self.store = store
    }

    /// Fails the next transactions, and none after them.
    package func fail(_ count: Int, _ kind: StoreError.Kind = .locked) {
        failures.withLock { $0 = (count, kind) }
    }

    /// Transactions that are still to fail.
    package var remaining: Int { failures.withLock { $0.count } }

    private func meetFailure() throws(StoreError) {
        let failure = failures.withLock { failures -> StoreError.Kind? in
            guard failures.count > 0 else { return nil }
            failures.count -= 1
            return failures.kind
        }
        if let failure { throw StoreError(failure, "a failure of the test") }
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try meetFailure()
        return try await store.write(request, body)
    }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try meetFailure()
        return try await store.read(request, body)
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }
}
