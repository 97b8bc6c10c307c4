import Coordination
import Dispatch

/// Runs an actor that owns a database on its own thread.
///
/// SQLite blocks: on disks, and for seconds on another program's lock. There are only as many
/// threads for ordinary tasks as cores, so one blocked thread would stall everything else.
package final class DatabaseExecutor: SerialExecutor {
    package typealias Work = @Sendable () -> Void

    private let submit: @Sendable (@escaping Work) -> Void

    /// The label shows in debuggers and thread lists.
    package convenience init(label: String) {
        let queue = DispatchQueue(label: label)
        self.init { work in queue.async(execute: work) }
    }

    /// Hands the work to a function that does it in order, one piece at a time. A simulation uses
    /// one thread for everything.
    package init(submit: @escaping @Sendable (@escaping Work) -> Void) {
        self.submit = submit
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        submit {
            job.runSynchronously(on: self.asUnownedSerialExecutor())
        }
    }

    /// Runs a piece of blocking work on the thread, such as opening the database.
    package func perform<Value: Sendable, Failure: Error>(
        _ work: @escaping @Sendable () throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = Promise<Result<Value, Failure>>()
        submit { result.keep(Result { () throws(Failure) in try work() }) }
        return try await result.value.get()
    }

    package func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}
