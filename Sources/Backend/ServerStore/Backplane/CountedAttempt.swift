/// An attempt that the processes of a server count together: a bucket that refills with time (server on
/// PostgreSQL, 6.5).
package struct CountedAttempt: Hashable, Sendable {
    /// A digest, which names the bucket and tells nothing about the peer.
    package let key: [UInt8]
    /// Attempts that may follow each other at once.
    package let burst: Int
    /// Milliseconds after which one more attempt is allowed.
    package let refillInterval: Int64

    package init(key: [UInt8], burst: Int, refillInterval: Int64) {
        self.key = key
        self.burst = burst
        self.refillInterval = refillInterval
    }
}
