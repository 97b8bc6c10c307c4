import Logging
import ServerStore
import Synchronization

/// A store that logs when its disk is full, and when it can write again: sessions log the first only, so
/// that the last line about the store would stay wrong.
struct DiskReporting: Store {
    private let store: any Store
    private let logger: Logger
    private let condition = Condition()

    private final class Condition: Sendable {
        let isFull = Mutex(false)
    }

    init(_ store: any Store, logger: Logger) {
        self.store = store
        self.logger = logger
    }

    func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        do {
            let outcome = try await store.write(request, body)
            if change(to: false) { logger.notice("the store can write again") }
            return outcome
        } catch let error as StoreError where error.kind == .diskFull {
            if change(to: true) {
                logger.error(
                    "the store cannot write",
                    metadata: ["code": "\(error.code)", "reason": "\(error)"]
                )
            }
            throw error
        }
    }

    func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try await store.read(request, body)
    }

    func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }

    /// Whether the condition was another one before.
    private func change(to isFull: Bool) -> Bool {
        condition.isFull.withLock { current in
            defer { current = isFull }
            return current != isFull
        }
    }
}
