/// Turns what the kernel counts over the life of a connection into the share that was lost lately.
package struct SegmentLoss: Hashable, Sendable {
    /// Both counts when the last share was told.
    private var sent: UInt64 = 0
    private var resent: UInt64 = 0

    /// Of fewer segments one lost one would say too much.
    private static let smallestSample: UInt64 = 20

    package init() {}

    /// The part of the segments that were sent again, of those sent since the last answer; nil while
    /// these are too few to tell.
    ///
    /// - Parameters:
    ///   - sent: segments sent since the connection stands, those sent again included.
    ///   - resent: those of them that were sent again.
    package mutating func share(sent: UInt64, resent: UInt64) -> Double? {
        // The kernel's counters are 32 bits wide, and start over.
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
