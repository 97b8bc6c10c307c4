internal import CSQLite
internal import Glibc

/// One connection to a database file.
///
/// It belongs to one actor or thread at a time, and so do its statements: it takes no lock of its own.
package final class Connection {
    /// Kept open until `close()` or the end of the last statement, whichever is later.
    private var handle: OpaquePointer?
    private var cache: [String: Statement] = [:]
    private var fixed: [UnsafePointer<UInt8>: Statement] = [:]
    package let path: String
    private let options: Options
    private var meter: WorkMeter?

    /// Opens the file.
    ///
    /// If it is not a database, the first statement that reads it fails.
    package init(path: String, _ options: Options = Options()) throws(SQLiteError) {
        self.path = path
        self.options = options
        self.handle = try Self.open(path, options)
    }

    /// A connection to a file that `reopen()` opens.
    package init(closed path: String, _ options: Options) {
        self.path = path
        self.options = options
    }

    private static func open(
        _ path: String,
        _ options: Options
    ) throws(SQLiteError) -> OpaquePointer {
        var handle: OpaquePointer?
        let status = sqlite3_open_v2(path, &handle, options.flags, options.vfs)
        guard status == SQLITE_OK, let handle else {
            let error = SQLiteError(
                extendedCode: handle.map { sqlite3_extended_errcode($0) } ?? status,
                message: "\(String(cString: sqlite3_errstr(status))): \(path)"
                    + Self.systemReason(handle, status)
            )
            sqlite3_close_v2(handle)
            throw error
        }
        BusyWait.install(on: handle, atMost: options.busyTimeout)
        return handle
    }

    deinit {
        close()
    }

    package struct Options: Sendable {
        package var mode: Mode
        /// The file layer; nil is the library's own. Tests name one that can be told to fail.
        package var vfs: String?
        /// The longest wait of a statement for a lock that another connection holds.
        package var busyTimeout: Duration

        package enum Mode: Sendable {
            case readOnly
            case readWrite
            /// Creates the file if there is none.
            case create
        }

        package init(
            mode: Mode = .create,
            vfs: String? = nil,
            busyTimeout: Duration = .seconds(5)
        ) {
            self.mode = mode
            self.vfs = vfs
            self.busyTimeout = busyTimeout
        }

        fileprivate var flags: Int32 {
            let access =
                switch mode {
                case .readOnly: SQLITE_OPEN_READONLY
                case .readWrite: SQLITE_OPEN_READWRITE
                case .create: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
                }
            return access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        }
    }

    /// Counts progress of statements on the meter, every few thousand of SQLite's instructions.
    package func countSteps(on meter: WorkMeter) {
        // The connection keeps the meter while SQLite holds a pointer to it.
        self.meter = meter
        // One that is closed counts from its opening on.
        guard let handle else { return }
        let context = Unmanaged.passUnretained(meter).toOpaque()
        sqlite3_progress_handler(
            handle,
            10_000,
            { context in
                guard let context else { return 0 }
                Unmanaged<WorkMeter>.fromOpaque(context).takeUnretainedValue().countStep()
                return 0
            },
            context
        )
    }

    /// Counts progress of work between statements on the meter.
    package func countStep() {
        meter?.countStep()
    }

    /// Closes the connection; statements that are still in use keep the file open until they end.
    package func close() {
        cache = [:]
        fixed = [:]
        sqlite3_close_v2(handle)
        handle = nil
    }

    /// Opens a closed connection again; what was set on it must be set again.
    package func reopen() throws(SQLiteError) {
        guard handle == nil else { return }
        handle = try Self.open(path, options)
        if let meter { countSteps(on: meter) }
    }
}

// MARK: Statements

extension Connection {
    /// Compiles a statement that the caller keeps.
    package func prepare(_ sql: String) throws(SQLiteError) -> Statement {
        try Statement(sql, on: database())
    }

    /// The statement for this text, compiled at its first use and kept for the next one.
    ///
    /// The caller must be done with it before it asks for the same text again.
    package func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let statement = cache[sql] {
            statement.reset()
            return statement
        }
        let statement = try prepare(sql)
        cache[sql] = statement
        return statement
    }

    /// The same for a text that is a constant of the program: it is looked up by address, which is
    /// cheaper than by content.
    package func statement(fixed sql: StaticString) throws(SQLiteError) -> Statement {
        if let statement = fixed[sql.utf8Start] {
            statement.reset()
            return statement
        }
        let statement = try prepare(sql.description)
        fixed[sql.utf8Start] = statement
        return statement
    }

    /// Runs a text of any number of statements and discards their rows.
    package func execute(_ sql: String) throws(SQLiteError) {
        let database = try database()
        let status = sqlite3_exec(database, sql, nil, nil, nil)
        guard status == SQLITE_OK else { throw Self.error(of: database, status, sql) }
    }

    /// Runs one statement, kept for the next time, and discards its rows.
    package func run(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) {
        let statement = try statement(sql)
        try statement.bind(values)
        try statement.run()
    }

    /// The first row of one statement, or nil if there is none.
    package func row(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError)
        -> [SQLiteValue]?
    {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        return try statement.step() ? statement.row : nil
    }

    /// All rows of one statement.
    package func rows(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError)
        -> [[SQLiteValue]]
    {
        let statement = try statement(sql)
        defer { statement.reset() }
        try statement.bind(values)
        var rows: [[SQLiteValue]] = []
        while try statement.step() {
            rows.append(statement.row)
        }
        return rows
    }

    /// The integer in the first column of the first row.
    package func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(SQLiteError) -> Int64?
    {
        guard case .integer(let value) = try row(sql, values)?.first else { return nil }
        return value
    }

    /// Rows that the last INSERT, UPDATE or DELETE changed.
    package var changes: Int {
        handle.map { Int(sqlite3_changes64($0)) } ?? 0
    }

    package var lastInsertedRowID: Int64 {
        handle.map { sqlite3_last_insert_rowid($0) } ?? 0
    }
}

// MARK: Transactions

extension Connection {
    package enum TransactionMode: String, Sendable {
        /// Takes the lock at the first statement that needs one.
        case deferred = "BEGIN DEFERRED"
        /// Takes the write lock at once, so that it never has to be upgraded.
        case immediate = "BEGIN IMMEDIATE"
    }

    package var isInTransaction: Bool {
        handle.map { sqlite3_get_autocommit($0) == 0 } ?? false
    }

    /// Runs the body in a transaction: committed if it returns, rolled back if it throws.
    package func transaction<Result>(
        _ mode: TransactionMode = .immediate,
        _ body: () throws -> Result
    ) throws -> Result {
        try run(mode.rawValue)
        do {
            let result = try body()
            try run("COMMIT")
            return result
        } catch {
            // A full disk and some other errors have already rolled back.
            if isInTransaction { try? run("ROLLBACK") }
            throw error
        }
    }

    /// Runs the body in a savepoint of the current transaction; a throw undoes only the body.
    package func savepoint<Result>(
        _ name: String,
        _ body: () throws -> Result
    ) throws -> Result {
        let name = Self.quoted(name)
        try run("SAVEPOINT \(name)")
        do {
            let result = try body()
            try run("RELEASE \(name)")
            return result
        } catch {
            if isInTransaction {
                try run("ROLLBACK TO \(name)")
                try run("RELEASE \(name)")
            }
            throw error
        }
    }
}

// MARK: Settings

extension Connection {
    /// Whether triggers of the file run on this connection; TEMP triggers always do.
    ///
    /// A change expires every prepared statement, so it is set once.
    package func setTriggersEnabled(_ isEnabled: Bool) throws(SQLiteError) {
        try set(SQLITE_DBCONFIG_ENABLE_TRIGGER, isEnabled, "SQLITE_DBCONFIG_ENABLE_TRIGGER")
    }

    /// Whether closing the last connection to a file copies its log into it, and removes the log.
    package func setCheckpointOnClose(_ isEnabled: Bool) throws(SQLiteError) {
        try set(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, !isEnabled, "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE")
    }

    private func set(_ option: Int32, _ value: Bool, _ name: String) throws(SQLiteError) {
        let database = try database()
        var result: Int32 = 0
        let status = csqlite_db_config_int(database, option, value ? 1 : 0, &result)
        guard status == SQLITE_OK, (result != 0) == value else {
            throw Self.error(of: database, status, name)
        }
    }

    /// The tables that a statement would write, and for each the trigger that does; nil: the statement itself.
    /// Compiles the statement, and does not run it.
    package func writes(
        of sql: String
    ) throws(SQLiteError) -> [(trigger: String?, table: String)] {
        final class Found {
            var writes: [(trigger: String?, table: String)] = []
        }
        let found = Found()
        let database = try database()
        sqlite3_set_authorizer(
            database,
            { context, action, table, _, _, trigger in
                if [SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE].contains(action), let context,
                    let table
                {
                    Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().writes.append(
                        (trigger.map { String(cString: $0) }, String(cString: table))
                    )
                }
                return SQLITE_OK
            },
            Unmanaged.passUnretained(found).toOpaque()
        )
        defer { sqlite3_set_authorizer(database, nil, nil) }
        _ = try prepare(sql)
        return found.writes
    }

    package enum CheckpointMode: Sendable {
        /// Copies as far as readers allow, without waiting.
        case passive
        /// Waits for readers and writers as long as the busy timeout, then empties the log file.
        case truncate
    }

    /// Copies the write-ahead log into the database file (false: readers or writers blocked it).
    package func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Bool {
        let database = try database()
        // A connection that has read nothing yet has not found the log.
        _ = try integer("PRAGMA schema_version")
        let mode =
            switch mode {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .truncate: SQLITE_CHECKPOINT_TRUNCATE
            }
        var logged: Int32 = 0
        var copied: Int32 = 0
        let status = sqlite3_wal_checkpoint_v2(database, nil, mode, &logged, &copied)
        if status & 0xff == SQLITE_BUSY { return false }
        guard status == SQLITE_OK else { throw Self.error(of: database, status, "checkpoint") }
        return logged == copied
    }

    /// The identifier in double quotes, quotes inside doubled.
    package static func quoted(_ identifier: String) -> String {
        var result = "\""
        for character in identifier.unicodeScalars {
            if character == "\"" { result.unicodeScalars.append(character) }
            result.unicodeScalars.append(character)
        }
        return result + "\""
    }

    private func database() throws(SQLiteError) -> OpaquePointer {
        guard let handle else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "the connection is closed")
        }
        return handle
    }

    static func error(of handle: OpaquePointer?, _ status: Int32, _ sql: String?) -> SQLiteError {
        let message =
            handle.map { String(cString: sqlite3_errmsg($0)) }
            ?? String(cString: sqlite3_errstr(status))
        return SQLiteError(
            extendedCode: handle.map { sqlite3_extended_errcode($0) } ?? status,
            message: message + systemReason(handle, status),
            sql: sql
        )
    }

    /// The reason why a file cannot be opened: SQLite's own words leave it out.
    private static func systemReason(_ handle: OpaquePointer?, _ status: Int32) -> String {
        guard let handle, status & 0xff == SQLITE_CANTOPEN else { return "" }
        let number = sqlite3_system_errno(handle)
        return number == 0 ? "" : ": \(String(cString: strerror(number)))"
    }
}
