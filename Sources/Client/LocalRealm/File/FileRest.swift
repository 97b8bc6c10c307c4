internal import Glibc
internal import SQLite

/// The rest of a realm file in silence: its connection closes, and opens again for the next call.
///
/// A connection keeps the schema of the file, statements, pages and descriptors: two thirds of what a silent realm
/// took of memory (`Benchmarks/many.py`). The lock that keeps other agents away stays, and so does the realm's state
/// in memory.
package final class FileRest {
    private let name: OpenFileName
    private let connection: Connection
    private let statements: StatementPool
    private let remoteTriggers: RemoteTriggers
    private var state = State.open(.new)
    /// Called when the connection opens again; must not block.
    package var onWake: () -> Void = {}

    private enum State {
        case open(Open)
        /// The state row that the file had when it came to rest.
        case silent(RealmStateRow)
        case closed
    }

    private struct Open {
        /// As set on the connection; nil if it never was.
        var durability: Durability?
        /// Looks in a row that found no use.
        var silentLooks = 0
        let ticket = OpenConnections.Ticket()

        static var new: Open { Open() }
    }

    /// The protection of a commit against a power cut (local realm, 6).
    enum Durability: String {
        /// Made durable with the next `full` commit, in order.
        case normal = "PRAGMA synchronous = NORMAL"
        /// Durable when the call returns.
        case full = "PRAGMA synchronous = FULL"
    }

    /// `CaptureWatch` should have closed its connection before, which takes it up to seven seconds: the last
    /// connection that closes copies the log into the file.
    private static let silentLooksBeforeRest = 2
    /// The same while many files are open.
    private static let silentLooksAmongMany = 1
    /// Until when the file rests only after the long silence, by the uptime: files that are used often would only
    /// close and open.
    private var isBusyUntil = ContinuousClock.now
    private static let pauseBetweenEarlyClosings = Duration.seconds(60)

    init(
        _ path: String,
        _ connection: Connection,
        _ statements: StatementPool,
        _ remoteTriggers: RemoteTriggers
    ) {
        self.name = OpenFileName(path: path)
        self.connection = connection
        self.statements = statements
        self.remoteTriggers = remoteTriggers
    }

    /// Programs write to the file that has the name: once that is another one, nothing may be read from this one
    /// or written to it.
    func requireSameFile() throws(LocalRealmError) {
        if name.isReplaced { throw replaced("removed or replaced while the agent had it open") }
    }

    private func replaced(_ problem: String) -> LocalRealmError {
        LocalRealmError(.replaced, path: name.path, "the file was \(problem)")
    }

    // MARK: Use

    /// Call it before the connection is used: it opens it if the file rests.
    func use() throws {
        switch state {
        case .open(var open):
            open.silentLooks = 0
            state = .open(open)
        case .silent(let row):
            try wake(row)
        case .closed:
            // The call fails by the closed connection.
            break
        }
    }

    private func wake(_ row: RealmStateRow) throws {
        try connection.reopen()
        do {
            // Since the last look, or before the connection was open.
            try requireSameFile()
            try RealmFileSetup.configure(connection)
            // A copy that was written over the file has its identity.
            guard try RealmStateRow(from: connection) == row else {
                throw replaced("restored to another state while the agent had it open")
            }
        } catch {
            connection.close()
            throw error
        }
        state = .open(.new)
        onWake()
    }

    /// SQLite changes this setting only between transactions.
    func set(_ durability: Durability) throws(SQLiteError) {
        guard case .open(var open) = state, open.durability != durability else { return }
        try connection.execute(durability.rawValue)
        open.durability = durability
        state = .open(open)
    }

    // MARK: Rest

    /// Brings the file to rest if some looks in a row have found no use of it. Call it now and then between calls.
    ///
    /// Closing leaves everything as durable as it was: the log is copied into the file with `fsync`, or stays.
    ///
    /// - Returns: whether the connection is closed.
    package func takeIfSilent() -> Bool {
        switch state {
        case .open(var open):
            open.silentLooks += 1
            state = .open(open)
            if open.silentLooks > Self.silentLooksBeforeRest { return take() }
            let now = ContinuousClock.now
            guard OpenConnections.areMany, open.silentLooks > Self.silentLooksAmongMany,
                now >= isBusyUntil, take()
            else { return false }
            isBusyUntil = now + Self.pauseBetweenEarlyClosings
            return true
        case .silent, .closed:
            return true
        }
    }

    /// Brings a file that was just opened to rest if many are open, and this one has told all that is asked of it.
    package func takeAmongMany() {
        if OpenConnections.areMany { _ = take() }
    }

    /// False if the file cannot be read: the next call reports the error.
    private func take() -> Bool {
        guard !connection.isInTransaction, !name.isReplaced,
            let row = (try? RealmStateRow(from: connection)) ?? nil
        else { return false }
        closeConnection()
        state = .silent(row)
        ReleasedMemory.giveBackSoon()
        return true
    }

    private func closeConnection() {
        statements.removeAll()
        remoteTriggers.forget()
        connection.close()
    }

    /// Every later call fails.
    func close() {
        if case .silent = state, !name.isReplaced, access(name.path + "-wal", F_OK) == 0 {
            // Others may have left the log; the last connection that closes copies it, so that the file alone is
            // all of the realm.
            try? connection.reopen()
            _ = try? connection.integer("PRAGMA schema_version")
        }
        closeConnection()
        state = .closed
    }
}
