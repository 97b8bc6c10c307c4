/// Where tasks of one actor wait until another of them says that something has changed.
///
/// It belongs to the actor; whoever wakes up looks again at what it waited for.
final class Waiter {
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func wait() async {
        await withCheckedContinuation { waiting.append($0) }
    }

    func wakeOne() {
        if !waiting.isEmpty { waiting.removeFirst().resume() }
    }

    func wakeAll() {
        for continuation in waiting { continuation.resume() }
        waiting = []
    }
}
