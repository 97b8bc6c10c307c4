import Logging
import ServerMetrics
import ServerStore
import Synchronization

/// Logs when a store cannot write for a reason that lasts, a full disk or a file that is gone, and when it can
/// again: sessions log the first only, so that the last line about the store would stay wrong.
final class UnwritableStoreReport: StoreWatcher {
    private let logger: Logger
    /// Nil while the store can write.
    private let failure = Mutex<StoreError?>(nil)

    init(logger: Logger) { self.logger = logger }

    /// The reason why no client can be served; nil while they can. A full disk does not count: reads are served,
    /// and a write finds out that there is space.
    var obstacle: String? {
        failure.withLock { $0?.kind == .replaced ? $0?.message : nil }
    }

    func watch<Outcome: Sendable>(
        _ call: MeasuredEvent.StoreCall,
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        do {
            let outcome = try await body()
            // A read says nothing about the disk.
            if call == .write || obstacle != nil, isNews(nil) {
                logger.notice("the store can write again")
            }
            return outcome
        } catch let error as StoreError where error.kind == .diskFull || error.kind == .replaced {
            if isNews(error) {
                logger.error(
                    "the store cannot write",
                    metadata: ["code": "\(error.code)", "reason": "\(error)"]
                )
            }
            throw error
        }
    }

    private func isNews(_ failure: StoreError?) -> Bool {
        self.failure.withLock { current in
            defer { current = failure }
            return current?.kind != failure?.kind
        }
    }
}
