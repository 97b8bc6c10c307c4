import Crypto

/// Slows down guessing: each key has a bucket of attempts that refills with time.
///
/// Its memory is bounded. A key is a digest of the peer's text. There are at most `capacity` keys,
/// and full buckets are removed.
struct AttemptLimiter {
    /// Attempts that may follow each other at once.
    let burst: Int
    /// Milliseconds after which one more attempt is allowed.
    let refillInterval: Int64
    /// The largest number of keys; when full, drops the keys whose buckets refill soonest.
    let capacity: Int

    /// The time at which each bucket is full again, in milliseconds since 1970.
    private var fullAt: [Key: Int64] = [:]
    /// The next time to remove full buckets.
    private var sweepAt = Int64.min

    /// Names a bucket in 16 bytes.
    struct Key: Hashable, Sendable {
        private let high: UInt64
        private let low: UInt64

        /// A digest of the parts and their lengths: "ab" with "c" is not "a" with "bc".
        init(_ parts: String...) {
            var hash = SHA256()
            for part in parts {
                withUnsafeBytes(of: UInt64(part.utf8.count).bigEndian) {
                    hash.update(bufferPointer: $0)
                }
                hash.update(data: Array(part.utf8))
            }
            let bytes = Array(hash.finalize())
            self.high = bytes[0..<8].reduce(0) { $0 << 8 | UInt64($1) }
            self.low = bytes[8..<16].reduce(0) { $0 << 8 | UInt64($1) }
        }

        var bytes: [UInt8] {
            [high, low].flatMap { half in withUnsafeBytes(of: half.bigEndian) { Array($0) } }
        }
    }

    init(burst: Int, refillInterval: Int64, capacity: Int = 10_000) {
        self.burst = burst
        self.refillInterval = refillInterval
        self.capacity = capacity
    }

    /// The number of buckets that are not full.
    var count: Int { fullAt.count }

    /// Takes one attempt. If none is left, takes nothing and returns the milliseconds until the
    /// next.
    mutating func take(_ key: Key, at now: Int64) -> Int64? {
        // A clock that was set back must not keep a bucket empty for longer than it takes to fill.
        let full = min(max(fullAt[key] ?? now, now), now + Int64(burst) * refillInterval)
        let wait = full - now - Int64(burst - 1) * refillInterval
        guard wait <= 0 else { return wait }
        if now >= sweepAt || fullAt.count >= capacity { makeRoom(for: key, at: now) }
        fullAt[key] = full + refillInterval
        return nil
    }

    /// Returns an attempt that succeeded: it does not count.
    mutating func giveBack(_ key: Key) {
        fullAt[key]? -= refillInterval
    }

    private mutating func makeRoom(for key: Key, at now: Int64) {
        sweepAt = now + Int64(burst) * refillInterval
        fullAt = fullAt.filter { $0.value > now }
        guard fullAt.count >= capacity, fullAt[key] == nil else { return }
        let kept = fullAt.sorted { $0.value > $1.value }.prefix(capacity / 2)
        fullAt = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
    }
}
