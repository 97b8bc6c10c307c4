import ServerMetrics
import ServerStore
import Synchronization

/// A store whose calls are counted.
struct StoreMetering: Store {
    private let store: any Store
    private let meter: ServerMeter
    private let calls = Calls()

    private final class Calls: Sendable {
        let underWay = Atomic(0)
    }

    init(_ store: any Store, _ meter: ServerMeter) {
        self.store = store
        self.meter = meter
    }

    /// Calls that the store is at, or that wait for their turn.
    var callsUnderWay: Int { calls.underWay.load(ordering: .relaxed) }

    func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await measure(.write) { try await store.write(request, body) }
    }

    func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        try await measure(.read) { try await store.read(request, body) }
    }

    func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        try await store.holdingState(body)
    }

    private func measure<Outcome: Sendable>(
        _ call: MeasuredEvent.StoreCall,
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        calls.underWay.add(1, ordering: .relaxed)
        defer { calls.underWay.subtract(1, ordering: .relaxed) }
        do {
            return try await meter.time({ .called(call, seconds: $0) }, body)
        } catch let error as StoreError {
            meter.note(.storeFailed(code: error.code))
            throw error
        }
    }
}
