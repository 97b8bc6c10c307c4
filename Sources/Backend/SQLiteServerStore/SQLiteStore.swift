import FoundationEssentials
package import Logging
package import SQLite
package import ServerStore
import Synchronization

/// The embedded store: one SQLite file, one process.
///
/// Writes that arrive while another is made durable are committed together, each in a savepoint of
/// its own. So many clients share one wait for the disk. Later writes delay a commit only for a
/// moment.
///
/// Of a request it uses the owner alone. There is one writer, so that no scope needs a lock; rows are a
/// call away, so that none is expected; and the process holds the file's lock, so that no session's
/// store can go back while it lives. No failure of it is `.unreachable` or `.changed`.
package final class SQLiteStore: Store {
    /// Nil in memory, and once the store is closed.
    private let file: Mutex<StoreFile?>
    private let writer: StoreWorker
    /// Nil for a store in memory.
    private let name: OpenFileName?
    /// A store in memory has only one connection.
    private let readers: ReaderPool?
    private let holder: StateHolder?
    private let versionSalts: VersionSalts
    private let logger: Logger
    private let pending = Mutex(WriteQueue())

    package enum Location: Sendable {
        case file(path: String)
        /// The file of a running server, which must agree: both write, and SQLite lets them take turns.
        case fileOfRunningServer(path: String)
        case memory
    }

    /// SQLite's file layer for databases in memory, which all connections of the process open by
    /// name.
    private static let memoryVFS = "memdb"

    /// Opens the store, and creates it if there is none. `vfs` names a file layer of SQLite for a
    /// store in a file: tests have one that can fail. `executor` makes the thread for a connection,
    /// from a label. `versionSalts` belong to this process; a simulation supplies its own.
    package init(
        _ location: Location,
        vfs: String? = nil,
        versionSalts: VersionSalts = .random(),
        logger: Logger = Logger(label: "Server"),
        clock: any Clock<Duration> = ContinuousClock(),
        executor: @escaping @Sendable (String) -> DatabaseExecutor = { DatabaseExecutor(label: $0) }
    ) async throws(StoreError) {
        self.logger = logger
        self.versionSalts = versionSalts
        switch location {
        case .file(let path), .fileOfRunningServer(let path):
            var isAlone = true
            if case .fileOfRunningServer = location { isAlone = false }
            self.file = Mutex(isAlone ? try StoreFile(path: path) : nil)
            self.name = OpenFileName(path: path)
            self.writer = try StoreWorker(
                path: path,
                vfs: vfs,
                on: executor("realm-server.store.write"),
                versionSalts: versionSalts,
                clock: clock,
                logger: logger
            )
            try await writer.prepare(isAlone: isAlone)
            self.readers = ReaderPool { () throws(StoreError) in
                try StoreWorker(
                    path: path,
                    vfs: vfs,
                    on: executor("realm-server.store.read"),
                    versionSalts: versionSalts,
                    logger: logger
                )
            }
            self.holder = StateHolder(
                try StoreWorker(
                    path: path,
                    vfs: vfs,
                    on: executor("realm-server.store.hold"),
                    versionSalts: versionSalts,
                    logger: logger
                )
            )
        case .memory:
            self.file = Mutex(nil)
            self.name = nil
            self.writer = try StoreWorker(
                path: ":memory:",
                vfs: Self.memoryVFS,
                on: executor("realm-server.store"),
                versionSalts: versionSalts,
                clock: clock,
                logger: logger
            )
            try await writer.prepare()
            self.readers = nil
            self.holder = nil
        }
    }

    package func write<Outcome: Sendable>(
        _ request: WriteRequest,
        _ body: @escaping @Sendable (any StoreTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try requireSameFile()
        let write = Write(body)
        pending.withLock { $0.append(write, of: request.owner) }
        // Each commit includes some of the waiting writes, perhaps not this one.
        while true {
            await writer.commit { self.pending.withLock { $0.next() } }
            guard let outcome = write.outcome else { continue }
            // A write into a file that is gone must not be acknowledged.
            try requireSameFile()
            return try outcome.get()
        }
    }

    private func requireSameFile() throws(StoreError) {
        guard let name, name.isReplaced else { return }
        throw StoreError(
            .replaced,
            "\(name.path): the file was removed, moved or replaced while it is in use"
        )
    }

    /// Writes that wait for their turn.
    var waitingWrites: Int { pending.withLock { $0.count } }

    package func read<Outcome: Sendable>(
        _ request: ReadRequest,
        _ body: @escaping @Sendable (any StoreReading) throws -> Outcome
    ) async throws -> Outcome {
        guard let readers else { return try await writer.read(body) }
        // A new connection would open another file.
        try requireSameFile()
        return try await readers.read(body)
    }

    package func holdingState<Outcome: Sendable>(
        _ body: @Sendable (any HeldState) async throws -> Outcome
    ) async throws -> Outcome {
        if let holder {
            try requireSameFile()
            return try await holder.hold(body)
        }
        // A store in memory has one connection: hold its state as a copy.
        let name = "/\(UUID().uuidString)"
        let copy = StateHolder(
            try StoreWorker(
                path: name,
                vfs: Self.memoryVFS,
                on: DatabaseExecutor(label: "realm-server.copy"),
                versionSalts: versionSalts,
                logger: logger
            )
        )
        do {
            // It exists while a connection has it open.
            try await writer.copy(to: name)
            let outcome = try await copy.hold(body)
            await copy.close()
            return outcome
        } catch {
            await copy.close()
            throw error
        }
    }

    /// Ends all use of the file; later calls throw errors.
    package func close() async {
        await readers?.close()
        await holder?.close()
        await writer.close()
        file.withLock { $0 = nil }
    }
}

/// A write that waits for its turn, of any outcome type.
protocol PendingWrite: Sendable {
    /// Does the work, and keeps its result.
    func run(in transaction: SQLiteTransaction)
    /// Confirms the result: the surrounding transaction is committed.
    func succeed()
    /// Voids the result: the surrounding transaction failed.
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
        let outcome = Result { try transaction.inSavepoint { try body(transaction) } }
        state.withLock { $0.result = outcome }
    }

    func succeed() {
        state.withLock { $0.hasEnded = true }
    }

    func fail(_ error: StoreError) {
        state.withLock { state in
            state.hasEnded = true
            // A refusal by the body remains even if the commit fails: it does not depend on the
            // disk.
            if case .failure(let reason) = state.result, !(reason is StoreError) { return }
            state.result = .failure(error)
        }
    }

    /// Nil until its commit has ended.
    var outcome: Result<Outcome, any Error>? {
        state.withLock { $0.hasEnded ? $0.result : nil }
    }
}
