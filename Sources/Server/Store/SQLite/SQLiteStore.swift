import FoundationEssentials
package import Logging
package import SQLite
import Synchronization

/// The embedded store: one SQLite file, one process.
///
/// Writes that arrive while another is being made durable are committed together, each in a
/// savepoint of its own, so that many clients share one wait for the disk. A commit is not put off for
/// longer than a moment by those that come behind it.
package final class SQLiteStore: ServerStore {
    /// Nil in memory, and once the store is closed.
    private let file: Mutex<StoreFile?>
    private let writer: StoreWorker
    /// Of a store in memory there is one connection only.
    private let reader: StoreWorker?
    private let holder: StateHolder?
    private let logger: Logger
    private let pending = Mutex(WriteQueue())

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
        clock: any Clock<Duration> = ContinuousClock(),
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
                clock: clock,
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
                clock: clock,
                logger: logger
            )
            try await writer.prepare()
            self.reader = nil
            self.holder = nil
        }
    }

    package func write<Outcome: Sendable>(
        for owner: WriteOwner,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        let write = Write(body)
        pending.withLock { $0.append(write, of: owner) }
        // Each commit does some of what waits, and it is not always this one's turn.
        while true {
            await writer.commit { self.pending.withLock { $0.next() } }
            if let outcome = write.outcome { return try outcome.get() }
        }
    }

    /// Writes that wait for their turn.
    var waitingWrites: Int { pending.withLock { $0.count } }

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
    /// What the work came to counts: the transaction around it is committed.
    func succeed()
    /// What the work came to is void: the transaction around it failed.
    func fail(_ error: StoreError)
}

private final class Write<Outcome: Sendable>: PendingWrite {
    private let body: @Sendable (any StoreTransaction) throws -> Outcome
    private struct State {
        var result: Result<Outcome, any Error>?
        var hasEnded = false
    }

    private let state = Mutex(State())

    init(_ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome) {
        self.body = body
    }

    func run(in transaction: SQLiteTransaction) {
        let outcome = Result { try transaction.undoingFailures { try body(transaction) } }
        state.withLock { $0.result = outcome }
    }

    func succeed() {
        state.withLock { $0.hasEnded = true }
    }

    func fail(_ error: StoreError) {
        state.withLock { state in
            state.hasEnded = true
            // A body that refused stays refused: its answer owes nothing to the disk.
            if case .failure(let reason) = state.result, !(reason is StoreError) { return }
            state.result = .failure(error)
        }
    }

    /// Nil until the commit that it is part of has ended.
    var outcome: Result<Outcome, any Error>? {
        state.withLock { $0.hasEnded ? $0.result : nil }
    }
}
