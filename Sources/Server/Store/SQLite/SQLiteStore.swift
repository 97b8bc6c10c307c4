import FoundationEssentials
package import Logging
package import SQLite
import Synchronization

/// The embedded store: one SQLite file, one process.
///
/// Writes that arrive while another is being made durable are committed together, each in a
/// savepoint of its own, so that many clients share one wait for the disk.
package final class SQLiteStore: ServerStore {
    /// Nil in memory, and once the store is closed.
    private let file: Mutex<StoreFile?>
    private let writer: StoreWorker
    /// Of a store in memory there is one connection only.
    private let reader: StoreWorker?
    private let holder: StateHolder?
    private let logger: Logger
    private let pending = Mutex<[any PendingWrite]>([])

    package enum Location: Sendable {
        case file(path: String)
        case memory
    }

    /// Keeps databases in memory, where every connection of the process finds them by name.
    private static let memoryVFS = "memdb"

    /// Opens the store, and makes it if there is none. `vfs` names a file layer of SQLite for a store in
    /// a file: tests have one that fails when told to. `executor` makes the thread for a connection, from a label.
    package init(
        _ location: Location,
        vfs: String? = nil,
        logger: Logger = Logger(label: "Server"),
        executor: @Sendable (String) -> DatabaseExecutor = { DatabaseExecutor(label: $0) }
    ) async throws(StoreError) {
        self.logger = logger
        switch location {
        case .file(let path):
            self.file = Mutex(try StoreFile(path: path))
            self.writer = try StoreWorker(
                path: path,
                vfs: vfs,
                on: executor("realm-server.store.write"),
                logger: logger
            )
            try await writer.prepare()
            self.reader = try StoreWorker(
                path: path,
                vfs: vfs,
                on: executor("realm-server.store.read"),
                logger: logger
            )
            self.holder = StateHolder(
                try StoreWorker(
                    path: path,
                    vfs: vfs,
                    on: executor("realm-server.store.hold"),
                    logger: logger
                )
            )
        case .memory:
            self.file = Mutex(nil)
            self.writer = try StoreWorker(
                path: ":memory:",
                vfs: Self.memoryVFS,
                on: executor("realm-server.store"),
                logger: logger
            )
            try await writer.prepare()
            self.reader = nil
            self.holder = nil
        }
    }

    package func write<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        let write = Write(body)
        pending.withLock { $0.append(write) }
        await writer.commit { self.takePending() }
        return try write.outcome()
    }

    private func takePending() -> [any PendingWrite] {
        pending.withLock { writes in
            defer { writes = [] }
            return writes
        }
    }

    package func read<Outcome: Sendable>(
        _ body: @escaping @Sendable (any StoreSnapshot) throws -> Outcome
    ) async throws -> Outcome {
        try await (reader ?? writer).read(body)
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        if let holder { return try await holder.hold(body) }
        // What is in memory has one connection: its state is held as a copy.
        let name = "/\(UUID().uuidString)"
        let copy = StateHolder(
            try StoreWorker(
                path: name,
                vfs: Self.memoryVFS,
                on: DatabaseExecutor(label: "realm-server.copy"),
                logger: logger
            )
        )
        do {
            // It stays for as long as somebody has it open.
            try await writer.copy(to: name)
            let outcome = try await copy.hold(body)
            await copy.close()
            return outcome
        } catch {
            await copy.close()
            throw error
        }
    }

    /// Ends all use of the file; the store answers with errors from then on.
    package func close() async {
        await reader?.close()
        await holder?.close()
        await writer.close()
        file.withLock { $0 = nil }
    }
}

/// A write that waits for its turn, whatever its outcome will be.
protocol PendingWrite: Sendable {
    /// Does the work, and keeps what came of it.
    func run(in transaction: SQLiteTransaction)
    /// What the work came to is void: the transaction around it failed.
    func fail(_ error: StoreError)
}

private final class Write<Outcome: Sendable>: PendingWrite {
    private let body: @Sendable (any StoreTransaction) throws -> Outcome
    private let result = Mutex<Result<Outcome, any Error>?>(nil)

    init(_ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome) {
        self.body = body
    }

    func run(in transaction: SQLiteTransaction) {
        let outcome = Result { try transaction.undoingFailures { try body(transaction) } }
        result.withLock { $0 = outcome }
    }

    func fail(_ error: StoreError) {
        result.withLock { result in
            // A body that refused stays refused: its answer owes nothing to the disk.
            if case .failure(let reason) = result, !(reason is StoreError) { return }
            result = .failure(error)
        }
    }

    func outcome() throws -> Outcome {
        guard let result = result.withLock({ $0 }) else {
            preconditionFailure("a write was taken from the queue and not run")
        }
        return try result.get()
    }
}
