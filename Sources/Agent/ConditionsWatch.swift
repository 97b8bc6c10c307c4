import Scheduling
import Synchronization

/// Keeps what the host last told of its network and its power, for all schedules.
final class ConditionsWatch: Sendable {
    /// Tells the conditions as they are, and again whenever they have changed, until the task is
    /// cancelled.
    typealias Source = @Sendable (_ tell: (Conditions) async -> Void) async -> Void

    private struct State {
        var conditions = Conditions()
        /// Told once, or never to be told.
        var isSettled = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let source: Source
    private let state = Mutex(State())

    init(_ source: @escaping Source) {
        self.source = source
    }

    /// What was told last; nothing is known before.
    var conditions: Conditions { state.withLock { $0.conditions } }

    /// Listens until the task is cancelled, and says after each piece of news that there is some.
    func run(_ changed: () async -> Void) async {
        await source { conditions in
            learn(conditions)
            await changed()
        }
        // Nobody is to wait for what will never be told.
        learn(conditions)
    }

    /// Returns once the host has been asked for the first time; `run` has to be under way.
    func settled() async {
        await withCheckedContinuation { continuation in
            let isSettled = state.withLock { state in
                if !state.isSettled { state.waiters.append(continuation) }
                return state.isSettled
            }
            if isSettled { continuation.resume() }
        }
    }

    private func learn(_ conditions: Conditions) {
        let waiters = state.withLock { state in
            state.conditions = conditions
            state.isSettled = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
