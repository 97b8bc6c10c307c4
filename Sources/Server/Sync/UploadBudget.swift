import Synchronization

/// The bytes of uploads that wait for the store, over all connections. Many clients within their
/// own limits must not fill the memory together.
final class UploadBudget: Sendable {
    private let limit: Int
    private let used = Mutex(0)

    init(limitInBytes limit: Int) {
        self.limit = limit
    }

    /// Whether there is room for another upload. One is always accepted, of any size.
    func admits(_ size: Int) -> Bool {
        used.withLock { $0 == 0 || $0 + size <= limit }
    }

    /// Takes room, if there is enough.
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
