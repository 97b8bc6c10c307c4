/// Attempts to reach a server that is away: each failure doubles the pause before the next attempt, from
/// 0.1 second to a limit (server on PostgreSQL, 7.3).
///
/// Meanwhile work fails at once with the last error, so that no queue grows behind an absent server.
package struct Reconnection<Failure: Error>: Sendable {
    private enum State {
        case reachable
        case away(Failure, until: ContinuousClock.Instant, failures: Int)
    }

    private var state = State.reachable

    private let longestPause: Duration

    package init(longestPause: Duration = .seconds(5)) {
        self.longestPause = longestPause
    }

    /// The error of work that must not try now; nil when an attempt may be made.
    package func refusal(at now: ContinuousClock.Instant) -> Failure? {
        guard case .away(let error, let until, _) = state, now < until else { return nil }
        return error
    }

    /// The end of the pause; nil when an attempt may be made at any time.
    package var nextAttempt: ContinuousClock.Instant? {
        if case .away(_, let until, _) = state { until } else { nil }
    }

    package mutating func succeeded() {
        state = .reachable
    }

    /// - Parameter random: draws the jitter: half to all of the pause, so that processes do not return
    ///   together.
    package mutating func failed(
        _ error: Failure,
        at now: ContinuousClock.Instant,
        using random: inout some RandomNumberGenerator
    ) {
        var failures = 0
        if case .away(_, let until, let earlier) = state {
            // Attempts of several lanes at once are one failure.
            guard now >= until else { return }
            failures = min(earlier + 1, 10)
        }
        let pause = min(Duration.milliseconds(100) * (1 << failures), longestPause)
        let jitter = Double.random(in: 0.5...1, using: &random)
        state = .away(error, until: now + pause * jitter, failures: failures)
    }
}
