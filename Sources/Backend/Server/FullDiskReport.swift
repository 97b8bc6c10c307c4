import Logging
import ServerMetrics
import ServerStore
import Synchronization

/// Logs when a store's disk is full, and when it can write again: sessions log the first only, so that
/// the last line about the store would stay wrong.
final class FullDiskReport: StoreWatcher {
    private let logger: Logger
    private let isFull = Mutex(false)

    init(logger: Logger) { self.logger = logger }

    func watch<Outcome: Sendable>(
        _ call: MeasuredEvent.StoreCall,
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        guard call == .write else { return try await body() }
        do {
            let outcome = try await body()
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

    /// Whether the condition was another one before.
    private func change(to isFull: Bool) -> Bool {
        self.isFull.withLock { current in
            defer { current = isFull }
            return current != isFull
        }
    }
}
