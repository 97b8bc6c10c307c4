import Coordination
import Scheduling
import Synchronization

/// Keeps what the host last told of its network and its power, for all schedules.
final class ConditionsWatch: Sendable {
    /// Tells the conditions as they are, and again whenever they have changed, until the task is
    /// cancelled.
    typealias Source = @Sendable (_ tell: (Conditions) async -> Void) async -> Void

    private let source: Source
    private let latest = Mutex(Conditions())
    /// Kept when conditions were told once, or never will be.
    private let isSettled = Promise<Void>()

    init(_ source: @escaping Source) {
        self.source = source
    }

    /// What was told last; nothing is known before.
    var conditions: Conditions { latest.withLock { $0 } }

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
        await isSettled.value
    }

    private func learn(_ conditions: Conditions) {
        latest.withLock { $0 = conditions }
        isSettled.keep()
    }
}
