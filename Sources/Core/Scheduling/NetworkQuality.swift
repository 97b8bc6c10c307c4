/// Rates the network path to a server from measurements, with hysteresis.
///
/// One bad reading, or enough failed attempts, make it poor. Good readings make it good again once
/// they have lasted for `recoverAfter` without a bad one between them (interfaces, 4).
///
/// Moments are durations since some fixed moment of a monotonic clock.
package struct NetworkQuality: Hashable, Sendable {
    package typealias Moment = Duration

    package let thresholds: PoorNetwork
    private var failures: [Moment] = []
    private var isPoorSoFar = false
    /// Since when all readings were good.
    private var goodSince: Moment?
    /// The reading that made it poor, or kept it so.
    package private(set) var complaint: Complaint?

    package init(_ thresholds: PoorNetwork) {
        self.thresholds = thresholds
    }

    package enum Reading: Hashable, Sendable {
        /// The smoothed round-trip time of an open connection.
        case roundTrip(Duration)
        /// The fraction of the segments that were retransmitted, from 0 to 1.
        case loss(Double)
        /// Both at the same moment; the loss is nil if too little was sent to tell.
        case sample(roundTrip: Duration, loss: Double?)
        /// A connection attempt succeeded, in this time.
        case attempt(Duration)
        /// A connection attempt failed, or a connection was lost.
        case failure
    }

    package enum Complaint: Hashable, Sendable {
        case roundTrip(Duration)
        case loss(Double)
        /// So many attempts failed, or were slow, within the time of the thresholds.
        case failures(Int)
    }

    package mutating func note(_ reading: Reading, at moment: Moment) {
        settle(at: moment)
        switch verdict(on: reading, at: moment) {
        case .bad(let complaint):
            self.complaint = complaint
            isPoorSoFar = true
            goodSince = nil
        case .doubtful: goodSince = nil
        case .good: goodSince = goodSince ?? moment
        }
    }

    package func isPoor(at moment: Moment) -> Bool {
        isPoorSoFar && !hasRecovered(at: moment)
    }

    /// When it will be good again unless a bad reading comes before.
    package var recoversAt: Moment? {
        isPoorSoFar ? goodSince.map { $0 + thresholds.recoverAfter } : nil
    }

    /// The pause before the next probe without a connection; shorter after a good reading, so that
    /// a recovery rests on more than one lucky attempt.
    package var probePause: Duration {
        guard goodSince != nil else { return thresholds.probeEvery }
        return min(thresholds.probeEvery, max(.seconds(1), thresholds.recoverAfter / 2))
    }

    private func hasRecovered(at moment: Moment) -> Bool {
        recoversAt.map { $0 <= moment } ?? false
    }

    private mutating func settle(at moment: Moment) {
        guard hasRecovered(at: moment) else { return }
        self = NetworkQuality(thresholds)
    }

    // MARK: One reading

    private enum Verdict {
        case good
        case bad(Complaint)
        /// Not enough to call it poor, and no sign of recovery.
        case doubtful
    }

    private mutating func verdict(on reading: Reading, at moment: Moment) -> Verdict {
        switch reading {
        case .roundTrip(let duration):
            return duration > thresholds.roundTripAbove ? .bad(.roundTrip(duration)) : .good
        case .loss(let share):
            return share > thresholds.lossAbove ? .bad(.loss(share)) : .good
        case .sample(let roundTrip, let loss):
            // Either of the two can be bad; only both together are good.
            if case .bad(let complaint) = verdict(on: .roundTrip(roundTrip), at: moment) {
                return .bad(complaint)
            }
            return loss.map { verdict(on: .loss($0), at: moment) } ?? .good
        case .attempt(let duration):
            let limit = thresholds.roundTripAbove * Self.roundTripsOfAnAttempt
            return duration > limit ? countFailure(at: moment) : .good
        case .failure:
            return countFailure(at: moment)
        }
    }

    /// TCP, TLS and the upgrade, and one for name resolution.
    private static let roundTripsOfAnAttempt = 4

    private mutating func countFailure(at moment: Moment) -> Verdict {
        failures.append(moment)
        failures.removeAll { moment - $0 > thresholds.failuresWithin }
        // Bound the memory if a peer fails faster than failures are forgotten.
        failures = failures.suffix(thresholds.failures)
        return failures.count >= thresholds.failures ? .bad(.failures(failures.count)) : .doubtful
    }
}
