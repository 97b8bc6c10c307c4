import Versions

/// Measures how long local writes take from their capture to the server's acknowledgement.
struct CommitClock {
    /// The local version that holds them, and when it was made; in ascending order.
    private var pending: [(version: ClientVersion, moment: Duration)] = []

    /// A realm that is offline for long measures the oldest of its writes only.
    private static let capacity = 1_024

    mutating func captured(_ version: ClientVersion, at moment: Duration) {
        guard pending.count < Self.capacity, pending.last.map({ $0.version < version }) ?? true
        else {
            return
        }
        pending.append((version, moment))
    }

    /// The delays of the captured versions that the server has now acknowledged.
    mutating func acknowledged(_ version: ClientVersion, at moment: Duration) -> [Duration] {
        let done = pending.prefix { $0.version <= version }
        pending.removeFirst(done.count)
        return done.map { max(.zero, moment - $0.moment) }
    }

    /// Version numbers restart.
    mutating func reset() {
        pending = []
    }
}
