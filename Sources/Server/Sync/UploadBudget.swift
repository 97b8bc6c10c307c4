import Synchronization

/// How many bytes of uploads wait for the store, over all connections: many clients that each stay
/// within their own limit must not fill the memory together.
final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    init(limitInBytes limit: Int) {
        self.limit = limit
    }

    /// Whether there is room for another upload. One is always taken, however large.
    func admits(_ size: Int) -> Bool {
        used.withLock { $0 == 0 || $0 + size <= limit }
    }

    /// Takes room, if there is any.
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
