import Synchronization

/// Whether a thread is working on a database, and its progress; other threads can read it at any
/// time.
///
/// A step is a number of instructions of SQLite's machine, or a piece of work done. Work that lasts
/// and makes steps is long; work that lasts and makes none hangs.
package final class WorkMeter: Sendable {
    private let steps = Atomic<UInt64>(0)
    private let isAtWork = Atomic(false)

    package struct Reading: Hashable, Sendable {
        package let isAtWork: Bool
        package let steps: UInt64

        package init(isAtWork: Bool, steps: UInt64) {
            self.isAtWork = isAtWork
            self.steps = steps
        }
    }

    package init() {}

    package var reading: Reading {
        Reading(
            isAtWork: isAtWork.load(ordering: .relaxed),
            steps: steps.load(ordering: .relaxed)
        )
    }

    package func countStep() {
        steps.wrappingAdd(1, ordering: .relaxed)
    }

    /// Does a piece of work; one at a time.
    package func measuring<Result, Failure: Error>(
        _ work: () throws(Failure) -> Result
    ) throws(Failure) -> Result {
        isAtWork.store(true, ordering: .relaxed)
        defer {
            isAtWork.store(false, ordering: .relaxed)
            countStep()
        }
        return try work()
    }
}
