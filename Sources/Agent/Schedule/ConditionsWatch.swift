import Coordination
import Scheduling
import Synchronization

/// Keeps the host's last report of its network and power, for all schedules.
final class ConditionsWatch: Sendable {
    /// Reports the conditions now and after each change, until the task is cancelled.
    typealias Source = @Sendable (_ tell: (Conditions) async -> Void) async -> Void

    private let source: Source
    private let latest = Mutex(Conditions())
    /// Kept after the first report, or when no report will follow.
    private let isSettled = Promise<Void>()

    init(_ source: @escaping Source) {
        self.source = source
    }

    /// The last reported conditions; unknown before the first report.
    var conditions: Conditions { latest.withLock { $0 } }

    /// Listens until the task is cancelled, and signals each change.
    func run(_ changed: () async -> Void) async {
        await source { conditions in
            learn(conditions)
            await changed()
        }
        // Publish now, so that no reader waits for a report that never comes.
        learn(conditions)
    }

    /// Returns after the host's first report; requires that `run` is running.
    func settled() async {
        await isSettled.value
    }

    private func learn(_ conditions: Conditions) {
        latest.withLock { $0 = conditions }
        isSettled.keep()
    }
}
