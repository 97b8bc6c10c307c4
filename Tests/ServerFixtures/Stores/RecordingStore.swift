package import ServerStore
import Synchronization

/// A store that keeps the requests made of it.
package final class RecordingStore: Store {
    private let store: any Store
    private let requests = Mutex<(writes: [WriteRequest], reads: [ReadRequest])>(([], []))

    package init(_ store: any Store) {
        self.store = store
    }

    /// The requests since the last call.
    package func takeRequests() -> (writes: [WriteRequest], reads: [ReadRequest]) {
        requests.withLock { requests in
            defer { requests = ([], []) }
            return requests
        }
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        requests.withLock { $0.writes.append(request) }
        return try await store.write(request, body)
    }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        requests.withLock { $0.reads.append(request) }
        return try await store.read(request, body)
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }
}
