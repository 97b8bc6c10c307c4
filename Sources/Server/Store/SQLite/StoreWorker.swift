import Logging
import SQLite

/// One connection to the store, on a thread of its own.
actor StoreWorker {
    private let executor: DatabaseExecutor
    private let transaction: SQLiteTransaction

    nonisolated var unownedExecutor: UnownedSerialExecutor {
        executor.asUnownedSerialExecutor()
    }

    init(
        path: String,
        vfs: String?,
        on executor: DatabaseExecutor,
        logger: Logger
    ) throws(StoreError) {
        self.executor = executor
        do {
            self.transaction = SQLiteTransaction(
                try Connection(path: path, Connection.Options(vfs: vfs)),
                logger: logger
            )
        } catch {
            throw StoreError(error, path: path)
        }
    }

    /// Sets the file up; before any other use of it.
    func prepare() throws(StoreError) {
        try transaction.prepare()
    }

    /// Runs the writes of the moment in one transaction.
    func commit(_ take: @Sendable () -> [any PendingWrite]) {
        let writes = take()
        guard !writes.isEmpty else { return }
        do throws(StoreError) {
            try transaction.begin()
            for write in writes {
                write.run(in: transaction)
                // A full disk and some other errors undo everything at once.
                if !transaction.isOpen { throw transaction.lostTransaction }
            }
            try transaction.commit()
        } catch {
            transaction.rollBack()
            for write in writes { write.fail(error) }
        }
    }

    func read<Outcome: Sendable>(
        _ body: @Sendable (any StoreSnapshot) throws -> Outcome
    ) throws -> Outcome {
        try transaction.snapshot { try body(transaction) }
    }

    // MARK: A state that is held

    func beginHolding() throws(StoreError) {
        try transaction.beginReading()
    }

    func readHeld<Outcome: Sendable>(
        _ body: @Sendable (any StoreSnapshot) throws -> Outcome
    ) throws -> Outcome {
        try body(transaction)
    }

    func endHolding() {
        transaction.rollBack()
    }

    /// Writes the store as it is now to another database of the same file layer.
    func copy(to path: String) throws(StoreError) {
        try transaction.copy(to: path)
    }

    func close() {
        transaction.close()
    }
}
