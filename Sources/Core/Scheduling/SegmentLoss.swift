/// Derives the recent share of lost segments from the kernel's counts over the life of a
/// connection.
package struct SegmentLoss: Hashable, Sendable {
    /// Both counts at the last reported share.
    private var sent: UInt64 = 0
    private var resent: UInt64 = 0

    /// With fewer segments, a single lost one would weigh too much.
    private static let smallestSample: UInt64 = 20

    package init() {}

    /// The fraction of retransmitted segments among those sent since the last result; nil while
    /// these are too few to tell.
    ///
    /// - Parameters:
    ///   - sent: segments sent since the connection opened, retransmissions included.
    ///   - resent: the retransmissions among them.
    package mutating func share(sent: UInt64, resent: UInt64) -> Double? {
        // The kernel's counters are 32 bits wide, and wrap.
        guard sent >= self.sent, resent >= self.resent else {
            (self.sent, self.resent) = (sent, resent)
            return nil
        }
        guard sent - self.sent >= Self.smallestSample else { return nil }
        let share = Double(resent - self.resent) / Double(sent - self.sent)
        (self.sent, self.resent) = (sent, resent)
        return min(1, share)
    }
}
