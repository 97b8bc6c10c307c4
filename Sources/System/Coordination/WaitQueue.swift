/// A queue in which tasks of one actor wait until another of its tasks reports a change.
///
/// The queue belongs to the actor. A task that wakes up re-checks its condition. Cancellation wakes
/// no task: the actor does, when it ends.
package final class WaitQueue {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    package init() {}

    package func wait() async {
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Wakes the task that has waited longest.
    package func wakeOne() {
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }

    package func wakeAll() {
        let woken = waiting
        waiting = []
        for continuation in woken { continuation.resume() }
    }
}
