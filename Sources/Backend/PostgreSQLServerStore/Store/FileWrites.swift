import PostgreSQL
import ServerStore
import Synchronization

/// Runs the writes of each server file in their order, one transaction of a file at a time. Those that
/// wait meanwhile share the next one (server on PostgreSQL, 2, "Batches").
final class FileWrites: Sendable {
    private typealias Queue = FileQueue<any FileWrite>

    /// Each takes `lock_timeout`; a process that is frozen holds a file for 65 seconds at most (P14).
    private static let lockTimeouts = 14

    private let queues = Mutex<[ServerFileID: Queue]>([:])
    private let limits: BatchLimits
    private let lanes: Lanes
    private let make: TransactionMaker

    init(lanes: Lanes, _ make: TransactionMaker, limits: BatchLimits) {
        self.lanes = lanes
        self.make = make
        self.limits = limits
    }

    func write<Outcome: Sendable>(
        _ request: WriteRequest,
        to file: ServerFileID,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        let write = BodyOfFileWrite(request, body)
        let first = queues.withLock { queues -> Queue.Batch? in
            var queue = queues[file] ?? Queue(limits: limits)
            queue.append(write, sizeInBytes: request.sizeInBytes)
            let batch = queue.next()
            queues[file] = queue
            return batch
        }
        if let first { write.mail.send(.run(first)) }
        while case .run(let batch) = await write.mail.receive() {
            let outcome = await run(batch, on: file)
            pass(on: file, after: outcome)
        }
        return try write.outcome()
    }

    /// Writes that wait or run, for tests.
    func count(of file: ServerFileID) -> Int {
        queues.withLock { $0[file]?.count ?? 0 }
    }

    /// Tells the first of the next writes to run them.
    private func pass(on file: ServerFileID, after outcome: Queue.Outcome) {
        let next = queues.withLock { queues -> Queue.Batch? in
            guard var queue = queues.removeValue(forKey: file) else { return nil }
            guard queue.finish(outcome) else { return nil }
            let batch = queue.next()
            queues[file] = queue
            return batch
        }
        next?.first?.mail.send(.run(next ?? []))
    }

    // MARK: One transaction

    /// A body that is alone in its transaction threw: nothing is committed.
    private struct BodyThrew: Error {}

    private func run(_ batch: Queue.Batch, on file: ServerFileID) async -> Queue.Outcome {
        var expected = ExpectedRows()
        expected.lock(file)
        for write in batch { expected.add(write.request, make.schemas) }
        expected.finish()
        do {
            let outcome = try await lanes.transact(expected.steps) {
                [make, expected] open -> Queue.Outcome in
                let transaction = make.writing(
                    on: open.connection,
                    batch.count == 1 ? .alone : .shared
                )
                try expected.note(open.rows[...], in: transaction)
                let outcome = try Self.run(batch, in: transaction)
                open.writes = transaction.takeSteps()
                return outcome
            }
            return deliver(batch, outcome)
        } catch is BodyThrew {
            return deliver(batch, .finished)
        } catch {
            return settle(batch, after: error)
        }
    }

    /// Runs the bodies until one needs a transaction of its own.
    private static func run(
        _ batch: Queue.Batch,
        in transaction: PostgreSQLTransaction
    ) throws -> Queue.Outcome {
        for (position, write) in batch.enumerated() {
            transaction.buffer.beginBody()
            let hasReturned = write.run(in: transaction)
            if let failure = transaction.runner.failure { throw failure }
            guard !transaction.runner.needsMore else {
                transaction.buffer.dropBody()
                return .needsOwnTransaction(at: position)
            }
            if hasReturned {
                transaction.buffer.keepBody()
            } else if batch.count == 1 {
                throw BodyThrew()
            } else {
                transaction.buffer.dropBody()
            }
        }
        return .finished
    }

    private func deliver(_ batch: Queue.Batch, _ outcome: Queue.Outcome) -> Queue.Outcome {
        var done = batch[...]
        if case .needsOwnTransaction(let position) = outcome { done = batch[..<position] }
        for write in done { write.finish() }
        return outcome
    }

    /// Nothing was committed, or it cannot be found out.
    private func settle(_ batch: Queue.Batch, after error: any Error) -> Queue.Outcome {
        let error =
            StoreError(ofTransaction: error)
            ?? StoreError(.failed, "a transaction failed: \(error)")
        switch error.kind {
        case .locked where batch.allSatisfy({ $0.lockTimeouts < Self.lockTimeouts }):
            for write in batch { write.countLockTimeout() }
            return .runAgain
        case .failed where batch.count > 1, .unacceptable where batch.count > 1:
            return .flushFailed
        case .locked, .unusable, .diskFull, .replaced, .failed, .unreachable, .changed,
            .unacceptable:
            for write in batch { write.fail(error) }
            return .finished
        }
    }
}
