internal import CSQLite

/// A compiled statement: bind values (from 1), step through rows, read columns (from 0), reset.
///
/// `reset()` clears the bindings, so each run binds all of its values, unless the one before kept them.
/// Their bytes are copied once, into memory the statement keeps for the next run, not allocated one by one.
package final class Statement {
    private let handle: OpaquePointer
    private let database: OpaquePointer
    private var arena = BindingArena()
    /// Whether it has run or has values bound since the last `reset()`.
    private var isInUse = false
    package let columnCount: Int

    init(_ sql: String, on database: OpaquePointer) throws(SQLiteError) {
        var handle: OpaquePointer?
        let status = sqlite3_prepare_v3(
            database,
            sql,
            -1,
            UInt32(SQLITE_PREPARE_PERSISTENT),
            &handle,
            nil
        )
        guard status == SQLITE_OK else { throw Connection.error(of: database, status, sql) }
        guard let handle else {
            throw SQLiteError(extendedCode: SQLITE_MISUSE, message: "no statement", sql: sql)
        }
        self.handle = handle
        self.database = database
        self.columnCount = Int(sqlite3_column_count(handle))
    }

    deinit {
        sqlite3_finalize(handle)
    }

    /// Moves to the next row; false at the end.
    package func step() throws(SQLiteError) -> Bool {
        isInUse = true
        switch sqlite3_step(handle) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let status:
            let error = Connection.error(
                of: database,
                status,
                sqlite3_sql(handle).map { String(cString: $0) }
            )
            reset()
            throw error
        }
    }

    /// Steps to the end, then resets.
    package func run() throws(SQLiteError) {
        while try step() {}
        reset()
    }

    /// Steps to the end; the next run has the same bindings, but for those that are bound again.
    package func runKeepingBindings() throws(SQLiteError) {
        while try step() {}
        sqlite3_reset(handle)
    }

    /// Ends the current run and clears its bindings.
    package func reset() {
        guard isInUse else { return }
        isInUse = false
        sqlite3_reset(handle)
        sqlite3_clear_bindings(handle)
        arena.removeAll()
    }
}

// MARK: Binding

extension Statement {
    package func bindNull(at position: Int) throws(SQLiteError) {
        isInUse = true
        try check(sqlite3_bind_null(handle, Int32(position)))
    }

    package func bind(_ value: Int64, at position: Int) throws(SQLiteError) {
        isInUse = true
        try check(sqlite3_bind_int64(handle, Int32(position), value))
    }

    /// SQLite has no NaN: it becomes NULL.
    package func bind(_ value: Double, at position: Int) throws(SQLiteError) {
        isInUse = true
        try check(sqlite3_bind_double(handle, Int32(position), value))
    }

    /// Binds bytes as TEXT, whether or not they are UTF-8.
    package func bind(text bytes: [UInt8], at position: Int) throws(SQLiteError) {
        isInUse = true
        try check(
            sqlite3_bind_text64(
                handle,
                Int32(position),
                arena.store(bytes).assumingMemoryBound(to: CChar.self),
                UInt64(bytes.count),
                nil,
                UInt8(SQLITE_UTF8)
            )
        )
    }

    package func bind(blob bytes: [UInt8], at position: Int) throws(SQLiteError) {
        isInUse = true
        let status = sqlite3_bind_blob64(
            handle,
            Int32(position),
            arena.store(bytes),
            UInt64(bytes.count),
            nil
        )
        try check(status)
    }

    /// Binds TEXT that stays at its address until the statement is reset.
    package func bind(
        textInPlace bytes: UnsafeRawBufferPointer,
        at position: Int
    ) throws(SQLiteError) {
        // Without an address NULL would be bound.
        guard let start = bytes.baseAddress else { return try bind(text: [], at: position) }
        isInUse = true
        let status = sqlite3_bind_text64(
            handle,
            Int32(position),
            start.assumingMemoryBound(to: CChar.self),
            UInt64(bytes.count),
            nil,
            UInt8(SQLITE_UTF8)
        )
        try check(status)
    }

    /// Binds a BLOB that stays at its address until the statement is reset.
    package func bind(
        blobInPlace bytes: UnsafeRawBufferPointer,
        at position: Int
    ) throws(SQLiteError) {
        guard let start = bytes.baseAddress else { return try bind(blob: [], at: position) }
        isInUse = true
        try check(
            sqlite3_bind_blob64(handle, Int32(position), start, UInt64(bytes.count), nil)
        )
    }

    /// Binds TEXT that the body writes into the statement's own memory; it returns the length.
    package func bindText(
        at position: Int,
        capacity: Int,
        _ write: (UnsafeMutableRawBufferPointer) -> Int
    ) throws(SQLiteError) {
        let room = arena.reserve(capacity)
        let count = write(room)
        try bind(textInPlace: UnsafeRawBufferPointer(rebasing: room[..<count]), at: position)
    }

    package func bind(_ value: String, at position: Int) throws(SQLiteError) {
        try bind(text: Array(value.utf8), at: position)
    }

    package func bind(_ value: SQLiteValue, at position: Int) throws(SQLiteError) {
        switch value {
        case .null: try bindNull(at: position)
        case .integer(let value): try bind(value, at: position)
        case .real(let value): try bind(value, at: position)
        case .text(let value): try bind(value, at: position)
        case .blob(let value): try bind(blob: value, at: position)
        }
    }

    /// Binds the values to the parameters 1, 2, ...
    package func bind(_ values: [SQLiteValue]) throws(SQLiteError) {
        for (index, value) in values.enumerated() {
            try bind(value, at: index + 1)
        }
    }

    private func check(_ status: Int32) throws(SQLiteError) {
        guard status == SQLITE_OK else {
            throw Connection.error(
                of: database,
                status,
                sqlite3_sql(handle).map { String(cString: $0) }
            )
        }
    }
}

// MARK: Reading the current row

extension Statement {
    package func storageClass(at column: Int) -> StorageClass {
        switch sqlite3_column_type(handle, Int32(column)) {
        case SQLITE_INTEGER: .integer
        case SQLITE_FLOAT: .real
        case SQLITE_TEXT: .text
        case SQLITE_BLOB: .blob
        default: .null
        }
    }

    package func integer(at column: Int) -> Int64 {
        sqlite3_column_int64(handle, Int32(column))
    }

    package func real(at column: Int) -> Double {
        sqlite3_column_double(handle, Int32(column))
    }

    /// The bytes of a TEXT or BLOB value.
    package func bytes(at column: Int) -> [UInt8] {
        withBytes(at: column) { Array($0) }
    }

    /// Lends the bytes of a TEXT or BLOB value in place.
    package func withBytes<Result, Failure: Error>(
        at column: Int,
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let start = sqlite3_column_blob(handle, Int32(column))
        let count = Int(sqlite3_column_bytes(handle, Int32(column)))
        return try body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count))
    }

    /// A TEXT value; bytes that are not UTF-8 show as U+FFFD.
    package func text(at column: Int) -> String {
        withBytes(at: column) { String(decoding: $0, as: UTF8.self) }
    }

    package func value(at column: Int) -> SQLiteValue {
        switch storageClass(at: column) {
        case .null: .null
        case .integer: .integer(integer(at: column))
        case .real: .real(real(at: column))
        case .text: .text(text(at: column))
        case .blob: .blob(bytes(at: column))
        }
    }

    /// All columns of the current row.
    package var row: [SQLiteValue] {
        (0..<columnCount).map { value(at: $0) }
    }
}
