/// The wait after a failure before the next attempt: longer each time the same reason repeats,
/// randomly shorter so that clients do not return together (wire protocol, 10.1).
package struct ReconnectDelay<Reason: Hashable & Sendable>: Sendable {
    package struct Parameters: Hashable, Sendable {
        package var initial: Duration
        package var maximum: Duration
        package var multiplier: Double
        /// The largest part of the delay that is randomly subtracted, 0 to 1.
        package var jitter: Double

        package init(
            initial: Duration = .seconds(1),
            maximum: Duration = .seconds(300),
            multiplier: Double = 2,
            jitter: Double = 0.25
        ) {
            self.initial = initial
            self.maximum = maximum
            self.multiplier = multiplier
            self.jitter = jitter
        }

        /// The parameters of a server's error, with the jitter of these.
        package func replaced(by backoff: JSONErrorBody.Backoff) -> Parameters {
            Parameters(
                initial: .seconds(backoff.initialInSeconds),
                maximum: .seconds(backoff.maximumInSeconds),
                multiplier: Double(backoff.multiplier),
                jitter: jitter
            )
        }
    }

    private let defaults: Parameters
    private var parameters: Parameters
    private var reason: Reason?
    private var current: Duration?

    package init(_ defaults: Parameters = Parameters()) {
        self.defaults = defaults
        self.parameters = defaults
    }

    /// Records a failure. The same reason again continues the sequence, also with the parameters
    /// that came with it the first time.
    package mutating func failed(_ reason: Reason, backoff: JSONErrorBody.Backoff? = nil) {
        guard reason != self.reason else { return }
        self.reason = reason
        current = nil
        parameters = backoff.map { defaults.replaced(by: $0) } ?? defaults
    }

    /// The wait before the next attempt.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let delay = current.map(longer) ?? parameters.initial
        current = delay
        return delay - .random(upTo: delay.scaled(by: parameters.jitter), using: &random)
    }

    /// A server may send a multiplier of 0, which must not lead to attempts without delay.
    private func longer(_ delay: Duration) -> Duration {
        guard delay != parameters.maximum else { return delay }
        // A server may send a multiplier of 0, which must not make us hammer it.
        return min(parameters.maximum, delay.scaled(by: max(1, parameters.multiplier)))
    }

    /// Forgets all failures.
    package mutating func reset() {
        reason = nil
        current = nil
        parameters = defaults
    }
}

extension Duration {
    /// A random part of the duration, in whole milliseconds.
    static func random(
        upTo limit: Duration,
        using random: inout some RandomNumberGenerator
    ) -> Duration {
        guard limit > .zero else { return .zero }
        return .milliseconds(UInt64.random(in: 0...limit.wholeMilliseconds, using: &random))
    }

    /// The duration times a factor, in whole milliseconds, clamped to the range of the type.
    func scaled(by factor: Double) -> Duration {
        let milliseconds = (Double(wholeMilliseconds) * factor).rounded()
        return .milliseconds(Int64(exactly: milliseconds) ?? .max)
    }

    var wholeMilliseconds: UInt64 {
        UInt64(
            max(0, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
        )
    }
}
