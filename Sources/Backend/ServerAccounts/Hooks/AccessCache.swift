import Scopes
import ServerStore

/// Decisions on access that still count, up to a number of them.
struct AccessCache {
    struct Key: Hashable {
        let user: UserID
        let partition: Partition
    }

    private struct Entry {
        let access: PartitionAccess
        /// Of the cache's clock.
        let end: Duration
        let number: Int
    }

    private let lifetime: Duration
    private let limit: Int
    private var entries: [Key: Entry] = [:]
    /// Oldest first: their lifetimes are equal. Those of replaced decisions are of no entry any more.
    private var order: [(key: Key, number: Int)] = []
    /// Before it, `order` is done with.
    private var first = 0
    private var latest = 0

    init(lifetime: Duration, limit: Int) {
        self.lifetime = lifetime
        self.limit = limit
    }

    var count: Int { entries.count }

    /// Nil if the program must be asked.
    func access(_ key: Key, at now: Duration) -> PartitionAccess? {
        entries[key].flatMap { now < $0.end ? $0.access : nil }
    }

    mutating func note(_ access: PartitionAccess, of key: Key, at now: Duration) {
        guard lifetime > .zero else { return }
        latest += 1
        entries[key] = Entry(access: access, end: now + lifetime, number: latest)
        order.append((key, latest))
        while first < order.count {
            let oldest = order[first]
            let entry = entries[oldest.key]
            let isCurrent = entry?.number == oldest.number
            guard !isCurrent || entries.count > limit || entry.map({ $0.end <= now }) == true else {
                break
            }
            if isCurrent { entries[oldest.key] = nil }
            first += 1
        }
        guard first > order.count / 2 else { return }
        order.removeFirst(first)
        first = 0
    }

    mutating func removeAll() {
        entries = [:]
        order = []
        first = 0
    }

    mutating func remove(_ user: UserID) {
        entries = entries.filter { $0.key.user != user }
    }
}
