import Coordination
import SyncClient

/// A piece of work that another task may end.
final class Lifetime: Sendable {
    private let end = Signal()
    private let ended = Signal()

    /// Runs the work until it returns, is ended, or the task is cancelled.
    func run(_ work: @escaping @Sendable () async -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await work() }
            group.addTask { [end] in await end.wait() }
            await group.next()
            group.cancelAll()
        }
        ended.raise()
    }

    /// Ends the work, and returns when it has ended.
    func finish() async {
        end.raise()
        await ended.wait()
    }
}
