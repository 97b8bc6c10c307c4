import Synchronization

/// The bytes of request bodies in memory, over all connections. Many clients within their own limits
/// must not fill the memory together.
package final class BodyBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    package init(limitInBytes limit: Int) {
        self.limit = limit
    }

    /// Takes room, if there is enough. One body is always accepted, of any size.
    func take(_ size: Int) -> Bool {
        used.withLock { used in
            guard used == 0 || used + size <= limit else { return false }
            used += size
            return true
        }
    }

    func change(by difference: Int) {
        if difference != 0 { used.withLock { $0 += difference } }
    }
}
