import Synchronization

/// Somebody's wish that the next attempt to connect be made now.
final class RetryRequest: Sendable {
    private let isMade = Atomic(false)

    func make() {
        isMade.store(true, ordering: .relaxed)
    }

    /// Whether it was made since it was last taken.
    func take() -> Bool {
        isMade.exchange(false, ordering: .relaxed)
    }
}
