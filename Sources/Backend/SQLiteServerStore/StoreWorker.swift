import Logging
import SQLite
import ServerStore

/// One connection to the store, on a thread of its own.
actor StoreWorker {
    private let executor: DatabaseExecutor
    private let transaction: SQLiteTransaction
    private let elapsed: @Sendable () -> Duration
    /// The longest wait of a commit's first write for others to share it.
    private static let slice = Duration.milliseconds(50)

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(
        path: String,
        vfs: String?,
        on executor: DatabaseExecutor,
        versionSalts: VersionSalts,
        clock: any Clock<Duration> = ContinuousClock(),
        logger: Logger
    ) throws(StoreError) {
        self.executor = executor
        self.elapsed = Self.stopwatch(clock)
        do {
            self.transaction = SQLiteTransaction(
                try Connection(path: path, Connection.Options(vfs: vfs)),
                versionSalts: versionSalts,
                logger: logger
            )
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// Prepares the file; must run before any other use of it.
    ///
    /// - Parameter isAlone: whether no other process uses the file.
    func prepare(isAlone: Bool = true) throws(StoreError) {
        try transaction.prepare(isAlone: isAlone)
    }

    private static func stopwatch(_ clock: some Clock<Duration>) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// Runs the next writes in one transaction, until none waits or the first of them has waited
    /// long enough.
    func commit(_ next: @Sendable () -> (any PendingWrite)?) {
        guard let first = next() else { return }
        var writes = [first]
        do throws(StoreError) {
            try transaction.begin()
        } catch {
            // Each of them would wait for the same lock.
            while let write = next() { writes.append(write) }
            for write in writes { write.fail(error) }
            return
        }
        let end = elapsed() + Self.slice
        do throws(StoreError) {
            var write = first
            while true {
                write.run(in: transaction)
                // A full disk and some other errors roll back the whole transaction.
                if !transaction.isOpen { throw transaction.lostTransaction }
                guard elapsed() < end, let another = next() else { break }
                writes.append(another)
                write = another
            }
            try transaction.commit()
            for write in writes { write.succeed() }
        } catch {
            transaction.rollBack()
            for write in writes { write.fail(error) }
        }
    }

    func read<Outcome: Sendable>(
        _ body: @Sendable (any StoreReading) throws -> Outcome
    ) throws -> Outcome {
        try transaction.snapshot { try body(transaction) }
    }

    // MARK: A held state

    func beginHolding() throws(StoreError) {
        try transaction.beginReading()
    }

    func readHeld<Outcome: Sendable>(
        _ body: @Sendable (any StoreReading) throws -> Outcome
    ) throws -> Outcome {
        try body(transaction)
    }

    func endHolding() {
        transaction.rollBack()
    }

    /// Copies the present store to another database of the same file layer.
    func copy(to path: String) throws(StoreError) {
        try transaction.copy(to: path)
    }

    func close() {
        transaction.close()
    }
}
