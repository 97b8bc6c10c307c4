/// Judges the network by what was measured of it, and does not change its mind at every reading.
///
/// One bad reading, or enough failures, make it poor. Good readings make it good again once they
/// have lasted for `recoverAfter` without a bad one between them.
package struct LinkQuality: Hashable, Sendable {
    package let thresholds: PoorNetwork
    private var failures: [Instant] = []
    private var isPoorSoFar = false
    /// Since when there have been good readings only.
    private var goodSince: Instant?

    package init(_ thresholds: PoorNetwork) {
        self.thresholds = thresholds
    }

    package enum Reading: Hashable, Sendable {
        /// The smoothed round-trip time of a connection, or what one attempt took.
        case roundTrip(Duration)
        /// The part of the segments that had to be sent again, from 0 to 1.
        case loss(Double)
        /// An attempt to connect came to nothing.
        case failure
    }

    package mutating func note(_ reading: Reading, at instant: Instant) {
        settle(at: instant)
        if isBad(reading, at: instant) {
            isPoorSoFar = true
            goodSince = nil
        } else if reading != .failure {
            goodSince = goodSince ?? instant
        } else {
            goodSince = nil
        }
    }

    package func isPoor(at instant: Instant) -> Bool {
        isPoorSoFar && !hasRecovered(at: instant)
    }

    /// When it will be good again if nothing bad is measured until then.
    package var recoversAt: Instant? {
        isPoorSoFar ? goodSince.map { $0 + thresholds.recoverAfter } : nil
    }

    private func hasRecovered(at instant: Instant) -> Bool {
        recoversAt.map { $0 <= instant } ?? false
    }

    private mutating func settle(at instant: Instant) {
        guard hasRecovered(at: instant) else { return }
        isPoorSoFar = false
        failures = []
    }

    private mutating func isBad(_ reading: Reading, at instant: Instant) -> Bool {
        switch reading {
        case .roundTrip(let duration): return duration > thresholds.roundTripAbove
        case .loss(let share): return share > thresholds.lossAbove
        case .failure:
            failures.append(instant)
            failures.removeAll { instant - $0 > thresholds.failuresWithin }
            return failures.count >= thresholds.failures
        }
    }
}
