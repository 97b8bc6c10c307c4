import Synchronization

/// A user's or plugin's request to attempt a connection now.
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
