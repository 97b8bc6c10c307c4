import Synchronization

/// Pieces of work that are done one at a time, in the order they come. The owner finds somewhere to do
/// them: it calls `runNext` once for each true answer.
package final class WorkLane: Sendable {
    private let queue = Mutex<[DatabaseExecutor.Work]>([])

    package init() {}

    /// Whether the lane had no work before.
    package func append(_ work: @escaping DatabaseExecutor.Work) -> Bool {
        queue.withLock { queue in
            queue.append(work)
            return queue.count == 1
        }
    }

    /// Does the first piece; whether there is more.
    package func runNext() -> Bool {
        let work = queue.withLock { $0.first }
        work?()
        return queue.withLock { queue in
            queue.removeFirst()
            return !queue.isEmpty
        }
    }
}
