import ServerMetrics
import ServerStore

/// Sees each call of a store begin and end, without knowing what it reads or writes.
protocol StoreWatcher: Sendable {
    /// Runs the call.
    func watch<Outcome: Sendable>(
        _ call: MeasuredEvent.StoreCall,
        _ body: () async throws -> Outcome
    ) async throws -> Outcome
}

/// A store whose calls a watcher sees: the one place that passes calls on.
struct WatchedStore<Watcher: StoreWatcher>: Store {
    private let store: any Store
    private let watcher: Watcher

    init(_ store: any Store, by watcher: Watcher) {
        self.store = store
        self.watcher = watcher
    }

    func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await watcher.watch(.write) { try await store.write(request, body) }
    }

    func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try await watcher.watch(.read) { try await store.read(request, body) }
    }

    /// Not a call that is watched: it may last for minutes, and nothing waits for it.
    func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }
}
