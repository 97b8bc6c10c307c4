import Synchronization

/// The names of the realms that are stalled, for metrics and health checks.
final class StalledRealms: Sendable {
    private let current = Mutex<[String]>([])

    var names: [String] { current.withLock { $0 } }

    func set(_ names: [String]) {
        current.withLock { $0 = names }
    }
}
