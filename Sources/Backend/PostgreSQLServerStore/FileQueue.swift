internal import DequeModule

/// The bodies that wait for one server file, and the rules by which they share transactions (server on
/// PostgreSQL, 2, "Batches").
///
/// One transaction of a file runs at a time. Bodies run in order, except that one whose transaction
/// failed runs again before those that came later.
package struct FileQueue<Work> {
    /// Bodies of one transaction, in order; never empty.
    package typealias Batch = [Work]

    /// The end of a batch's transaction.
    package enum Outcome: Hashable, Sendable {
        /// All of them have their result. A body that threw has its error, and left nothing.
        case finished
        /// Those before the position have their result. The body there needs a transaction of its own;
        /// those behind it have not run.
        case needsOwnTransaction(at: Int)
        /// Nothing was committed and no body has a result: each runs again alone, so that only the
        /// offender is refused.
        case flushFailed
        /// Nothing was committed: another process has the file, or the connection was lost. The same
        /// bodies may share a transaction again.
        case runAgain
    }

    private struct Item {
        let work: Work
        let sizeInBytes: Int
        var isAlone: Bool
    }

    private let limits: BatchLimits
    private var waiting: Deque<Item> = []
    private var running: [Item] = []

    package init(limits: BatchLimits = BatchLimits()) {
        precondition(limits.bodies > 0, "a transaction has at least one body")
        self.limits = limits
    }

    /// Bodies that wait or run.
    package var count: Int { waiting.count + running.count }

    package var isRunning: Bool { !running.isEmpty }

    /// - Parameters:
    ///   - sizeInBytes: of the body's changesets.
    ///   - isAlone: the body is known to need a transaction of its own.
    package mutating func append(_ work: Work, sizeInBytes: Int, isAlone: Bool = false) {
        waiting.append(Item(work: work, sizeInBytes: max(0, sizeInBytes), isAlone: isAlone))
    }

    /// The bodies of the next transaction; nil while one runs, or nothing waits.
    package mutating func next() -> Batch? {
        guard running.isEmpty, let first = waiting.popFirst() else { return nil }
        running = [first]
        var size = first.sizeInBytes
        while !first.isAlone, running.count < limits.bodies, let item = waiting.first,
            !item.isAlone
        {
            let (sum, overflows) = size.addingReportingOverflow(item.sizeInBytes)
            guard !overflows, sum <= limits.sizeInBytes else { break }
            size = sum
            running.append(item)
            waiting.removeFirst()
        }
        return running.map(\.work)
    }

    /// Ends the transaction that runs.
    ///
    /// - Returns: whether a body waits, so that `next()` has a batch.
    package mutating func finish(_ outcome: Outcome) -> Bool {
        precondition(!running.isEmpty, "no transaction of this file runs")
        switch outcome {
        case .finished: break
        case .needsOwnTransaction(let position):
            precondition(running.indices.contains(position), "the batch has no such body")
            running[position].isAlone = true
            waiting.prepend(contentsOf: running[position...])
        case .flushFailed:
            precondition(running.count > 1, "a body that is alone has its result")
            for index in running.indices { running[index].isAlone = true }
            waiting.prepend(contentsOf: running)
        case .runAgain:
            waiting.prepend(contentsOf: running)
        }
        running = []
        return !waiting.isEmpty
    }

    /// Takes out all bodies that wait, as when the server ends; one that runs stays.
    package mutating func removeAll() -> [Work] {
        defer { waiting = [] }
        return waiting.map(\.work)
    }
}
