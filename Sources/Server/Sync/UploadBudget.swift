import Synchronization

/// How many bytes of request bodies are in memory, over all connections: many clients that each stay within
/// their own limit must not fill the memory together.
final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    init(limitInBytes limit: Int) {
        self.limit = limit
    }

    /// Takes room, if there is any. One body is always taken, however large.
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
