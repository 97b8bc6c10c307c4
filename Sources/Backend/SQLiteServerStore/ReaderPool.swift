import Coordination
import ServerStore
import Synchronization

/// Connections that read side by side, each on a thread of its own, so that a long read delays no
/// other. They are opened when they are needed, and kept.
///
/// Reads beyond their number take turns, in order of arrival.
final class ReaderPool: Sendable {
    /// The number of connections. Above it reads wait for each other: more threads than that would only
    /// compete for processors.
    static let size = 4

    private struct State {
        var idle: [StoreWorker] = []
        /// All that were opened.
        var workers: [StoreWorker] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let turns = Turns<OrderOfArrival>(atOnce: size)
    private let open: @Sendable () throws(StoreError) -> StoreWorker

    /// - Parameter open: makes one more connection.
    init(open: @escaping @Sendable () throws(StoreError) -> StoreWorker) {
        self.open = open
    }

    func read<Outcome: Sendable>(
        _ body: @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        // There are as many turns as connections: a task that has one finds an idle connection, or opens one.
        try await turns.take { () async throws in
            let worker = try take()
            defer { give(worker) }
            return try await worker.read(body)
        }
    }

    func close() async {
        let workers = state.withLock { state in
            state.isClosed = true
            return state.workers
        }
        for worker in workers { await worker.close() }
    }

    private func take() throws(StoreError) -> StoreWorker {
        let (idle, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        if let idle { return idle }
        guard !isClosed else { throw StoreError(.failed, "the store is closed") }
        let worker = try open()
        state.withLock { $0.workers.append(worker) }
        return worker
    }

    private func give(_ worker: StoreWorker) {
        state.withLock { $0.idle.append(worker) }
    }
}
