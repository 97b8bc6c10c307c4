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
    /// Nil if no record is kept.
    private var records: RestRecords?
    /// Called when the connection opens again; must not block.
    package var onWake: () -> Void = {}
    /// Reads the realm from the file at the first use.
    var readRealm: () throws -> Void = {}
    /// The state row of the file if nothing waits in it: neither writes of programs nor work of the agent.
    var stateWithoutWork: () throws -> RealmStateRow? = { nil }

    private enum State {
        case open(Open)
        /// The state row that the file had when it came to rest.
        case silent(RealmStateRow)
        /// The same in another process: this one knows it from the record alone.
        case unread(RealmStateRow)
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
        _ remoteTriggers: RemoteTriggers,
        recordedBy records: RestRecords?
    ) {
        self.name = OpenFileName(path: path)
        self.records = records
        self.connection = connection
        self.statements = statements
        self.remoteTriggers = remoteTriggers
    }

    /// The file is as its record says, and its connection closed until the first use.
    func begin(unread row: RealmStateRow) {
        state = .unread(row)
    }

    /// Whether the connection is open.
    package var isOpen: Bool {
        if case .open = state { true } else { false }
    }

    /// Whether all that is known of the file is its record.
    var isUnread: Bool {
        if case .unread = state { true } else { false }
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
            try wake(row) {}
        case .unread(let row):
            try wake(row, readRealm)
        case .closed:
            // The call fails by the closed connection.
            break
        }
    }

    private func wake(_ row: RealmStateRow, _ prepare: () throws -> Void) throws {
        try connection.reopen()
        do {
            // Since the last look, or before the connection was open.
            try requireSameFile()
            try RealmFileSetup.configure(connection)
            // A copy that was written over the file has its identity.
            guard try RealmStateRow(from: connection) == row else {
                throw replaced("restored to another state while the agent had it open")
            }
            try prepare()
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

    /// Call it after an error of the file: the next opening reads it, so that it meets the error before the realm
    /// counts as open.
    func keepNoRecord() {
        records?.forget()
        records = nil
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
            if open.silentLooks > Self.silentLooksBeforeRest { return take(.thorough) }
            let now = ContinuousClock.now
            guard OpenConnections.areMany, open.silentLooks > Self.silentLooksAmongMany,
                now >= isBusyUntil, take(.quick)
            else { return false }
            isBusyUntil = now + Self.pauseBetweenEarlyClosings
            return true
        case .silent, .unread, .closed:
            return true
        }
    }

    /// Brings a file that was just opened to rest if many are open, and this one has told all that is asked of it.
    package func takeAmongMany() {
        if case .open = state, OpenConnections.areMany { _ = take(.quick) }
    }

    /// False if the file cannot be read: the next call reports the error.
    private func take(_ way: RecordWay) -> Bool {
        guard !connection.isInTransaction, !name.isReplaced,
            let row = (try? RealmStateRow(from: connection)) ?? nil
        else { return false }
        closeConnection(way)
        state = .silent(row)
        ReleasedMemory.giveBackSoon()
        return true
    }

    /// The effort for a record.
    private enum RecordWay {
        /// Only if the file has no log, and was not written lately: many files close at the same time, and soon open
        /// again.
        case quick
        /// The log is copied, and some milliseconds may pass.
        case thorough
    }

    /// Closes it, and writes a record if nothing waits in the file.
    private func closeConnection(_ way: RecordWay) {
        guard let records, let trace = settledTrace(by: records, way),
            // A write after the trace is seen by this look, or by other traces.
            let row = try? stateWithoutWork()
        else { return closeConnection() }
        closeConnection()
        records.write(row, ifStill: trace)
    }

    private func settledTrace(by records: RestRecords, _ way: RecordWay) -> FileTrace? {
        switch way {
        case .quick:
            return records.traceIfSettled()
        case .thorough:
            // A file with work is usually seen here.
            guard (try? stateWithoutWork()) != nil else { return nil }
            // Closing would copy the log otherwise, which changes the traces. Beside a program that keeps the file
            // open this is in vain.
            _ = try? connection.checkpoint(.passive)
            return records.settledTrace()
        }
    }

    private func closeConnection() {
        statements.removeAll()
        remoteTriggers.forget()
        connection.close()
    }

    /// Every later call fails.
    func close() {
        // With its connection the log would stay.
        if records != nil { DirectoryWatch.shared.thread.waitForPieces() }
        switch state {
        case .silent, .unread:
            if !name.isReplaced, access(name.path + "-wal", F_OK) == 0 {
                // Others may have left the log; the last connection that closes copies it, so that the file alone
                // is all of the realm.
                try? connection.reopen()
                _ = try? connection.integer("PRAGMA schema_version")
            }
            closeConnection()
        case .open where !connection.isInTransaction && !name.isReplaced:
            closeConnection(.thorough)
        case .open, .closed:
            closeConnection()
        }
        state = .closed
        // It holds the lock.
        records = nil
    }
}
