/// How long to wait after a failure before the next attempt: longer each time the same reason comes
/// back, shorter by some chance so that clients do not return together (wire protocol, 10.1).
package struct ReconnectDelay<Reason: Hashable & Sendable>: Sendable {
    package struct Parameters: Hashable, Sendable {
        package var initial: Duration
        package var maximum: Duration
        package var multiplier: Int
        /// The delay is shortened by up to this part of it: 4 is a quarter.
        package var jitterDivisor: Int

        package init(
            initial: Duration = .seconds(1),
            maximum: Duration = .seconds(300),
            multiplier: Int = 2,
            jitterDivisor: Int = 4
        ) {
            self.initial = initial
            self.maximum = maximum
            self.multiplier = multiplier
            self.jitterDivisor = jitterDivisor
        }

        /// What a server's error asked for, with the jitter of these.
        package func replaced(by backoff: JSONErrorBody.Backoff) -> Parameters {
            Parameters(
                initial: .seconds(backoff.initialInSeconds),
                maximum: .seconds(backoff.maximumInSeconds),
                multiplier: Int(backoff.multiplier),
                jitterDivisor: jitterDivisor
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

    /// Takes note of a failure. The same reason again continues where it was, also with the
    /// parameters that came with it the first time.
    package mutating func failed(_ reason: Reason, backoff: JSONErrorBody.Backoff? = nil) {
        guard reason != self.reason else { return }
        self.reason = reason
        current = nil
        parameters = backoff.map { defaults.replaced(by: $0) } ?? defaults
    }

    /// The wait before the next attempt.
    package mutating func next(using random: inout some RandomNumberGenerator) -> Duration {
        let delay: Duration
        if let current {
            // A server may send a multiplier of 0, which must not make us hammer it.
            let longer = current * max(1, parameters.multiplier)
            delay = current == parameters.maximum ? current : min(parameters.maximum, longer)
        } else {
            delay = parameters.initial
        }
        current = delay
        guard parameters.jitterDivisor > 0 else { return delay }
        return delay - .random(upTo: delay / parameters.jitterDivisor, using: &random)
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
        let milliseconds =
            limit.components.seconds * 1000
            + limit.components.attoseconds / 1_000_000_000_000_000
        guard milliseconds > 0 else { return .zero }
        return .milliseconds(Int64.random(in: 0...milliseconds, using: &random))
    }

    var wholeMilliseconds: UInt64 {
        UInt64(
            max(0, components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000)
        )
    }
}
