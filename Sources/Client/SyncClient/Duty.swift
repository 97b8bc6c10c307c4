package import Coordination

/// A piece of work that is done again and again: when a signal is raised, or when time has passed.
package struct Duty: Sendable {
    let signal: Signal
    /// Between a raise and the work, for raises that come closely.
    let delay: Duration
    /// Whether it is due at the beginning, after the delay.
    let isDueAtOnce: Bool
    /// Whether a raise during the work begins it once more, beside the first.
    let isConcurrent: Bool
    let work: @Sendable (Occasion) async -> Next

    /// The reason why the work is done now.
    package enum Occasion: Sendable {
        case beginning
        case signal
        /// The time of `Next.within` has passed.
        case time
    }

    /// When the work is done again.
    package enum Next: Sendable {
        /// When the signal is raised.
        case onSignal
        /// The same, or when so much time has passed.
        case within(Duration)
        /// As if the signal was raised now.
        case again
    }

    package init(
        on signal: Signal,
        after delay: Duration = .zero,
        isDueAtOnce: Bool = false,
        isConcurrent: Bool = false,
        _ work: @escaping @Sendable (Occasion) async -> Next
    ) {
        self.signal = signal
        self.delay = delay
        self.isDueAtOnce = isDueAtOnce
        self.isConcurrent = isConcurrent
        self.work = work
    }
}
