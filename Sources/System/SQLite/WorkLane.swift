import Synchronization

/// Work that is done one piece at a time, in order. The owner chooses the thread: it calls
/// `runNext` once for each true result.
package final class WorkLane: Sendable {
    private let queue = Mutex<[DatabaseExecutor.Work]>([])

    package init() {}

    /// Returns whether the lane was empty before.
    package func append(_ work: @escaping DatabaseExecutor.Work) -> Bool {
        queue.withLock { queue in
            queue.append(work)
            return queue.count == 1
        }
    }

    /// Does the first piece; returns whether there is more.
    package func runNext() -> Bool {
        let work = queue.withLock { $0.first }
        work?()
        return queue.withLock { queue in
            queue.removeFirst()
            return !queue.isEmpty
        }
    }
}
