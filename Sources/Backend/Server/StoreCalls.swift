import ServerMetrics
import ServerStore
import Synchronization

/// Counts a store's calls, their time and failures.
final class StoreCalls: StoreWatcher {
    private let meter: ServerMeter
    private let count = Atomic(0)

    init(_ meter: ServerMeter) { self.meter = meter }

    /// Calls that the store is at, or that wait for their turn.
    var underWay: Int { count.load(ordering: .relaxed) }

    func watch<Outcome: Sendable>(
        _ call: MeasuredEvent.StoreCall,
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        count.add(1, ordering: .relaxed)
        defer { count.subtract(1, ordering: .relaxed) }
        do {
            return try await meter.time({ .called(call, seconds: $0) }, body)
        } catch let error as StoreError {
            meter.note(.storeFailed(code: error.code))
            throw error
        }
    }
}
