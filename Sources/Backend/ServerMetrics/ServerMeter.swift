import Synchronization

/// Counts the events of one server process.
package final class ServerMeter: Sendable {
    private let totals = Mutex(ServerTotals())

    package init() {}

    package func note(_ event: MeasuredEvent) {
        totals.withLock { $0.add(event) }
    }

    /// Counts the event that `event` makes of the time, in seconds, that the body took if it did not
    /// throw.
    package func time<Outcome, Failure: Error>(
        _ event: (_ seconds: Double) -> MeasuredEvent,
        _ body: () async throws(Failure) -> Outcome
    ) async throws(Failure) -> Outcome {
        let start = ContinuousClock.now
        let outcome = try await body()
        note(event(start.duration(to: .now).inSeconds))
        return outcome
    }

    var current: ServerTotals { totals.withLock { $0 } }
}

extension Duration {
    fileprivate var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
