import Dispatch

/// Runs an actor that owns a database on a thread of its own.
///
/// SQLite blocks: on disks, and for seconds on another program's lock. The threads that run ordinary
/// tasks are as few as the machine's cores, so a blocked one would stop everything else.
package final class DatabaseExecutor: SerialExecutor {
    private let queue: DispatchQueue

    /// The label shows in debuggers and thread lists.
    package init(label: String) {
        self.queue = DispatchQueue(label: label)
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async {
            job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }

    /// Runs a piece of blocking work on the thread, such as opening the database.
    package func perform<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result
    {
        await withCheckedContinuation { continuation in
            queue.async { continuation.resume(returning: work()) }
        }
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
