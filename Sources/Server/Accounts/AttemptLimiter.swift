/// Slows down guessing: each key has a bucket of attempts that refills with time.
struct AttemptLimiter {
    /// Attempts that may follow each other at once.
    let burst: Int
    /// Milliseconds after which one more attempt is allowed.
    let refillInterval: Int64
    /// Keys remembered; beyond it, the oldest grudges go first.
    let capacity: Int

    /// When each bucket will be full again, in milliseconds since 1970.
    private var fullAt: [String: Int64] = [:]

    init(burst: Int, refillInterval: Int64, capacity: Int = 10_000) {
        self.burst = burst
        self.refillInterval = refillInterval
        self.capacity = capacity
    }

    /// Takes one attempt. If there is none: the milliseconds until there is, and nothing is taken.
    mutating func take(_ key: String, at now: Int64) -> Int64? {
        let wait = max(fullAt[key] ?? now, now) - now - Int64(burst - 1) * refillInterval
        guard wait <= 0 else { return wait }
        if fullAt.count >= capacity, fullAt[key] == nil { makeRoom(at: now) }
        fullAt[key] = max(fullAt[key] ?? now, now) + refillInterval
        return nil
    }

    /// The attempt turned out well: it does not count.
    mutating func giveBack(_ key: String) {
        fullAt[key]? -= refillInterval
    }

    private mutating func makeRoom(at now: Int64) {
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= capacity else { return }
        let kept = fullAt.sorted { $0.value > $1.value }.prefix(capacity / 2)
        fullAt = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
