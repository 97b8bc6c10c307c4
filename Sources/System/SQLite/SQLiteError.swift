internal import CSQLite

/// An error of the SQLite library, in its own words, and the statement that failed.
///
/// Values bound to a statement are never part of it.
package struct SQLiteError: Error, Hashable, Sendable {
    /// The extended result code; most callers switch on `condition`.
    package let extendedCode: Int32
    package let message: String
    package let sql: String?

    package init(extendedCode: Int32, message: String, sql: String? = nil) {
        self.extendedCode = extendedCode
        self.message = message
        self.sql = sql
    }

    /// The primary result code, without what the extended code adds.
    package var code: Int32 { extendedCode & 0xff }

    /// Conditions that callers handle.
    package enum Condition: Hashable, Sendable {
        /// Another connection holds the lock; try again.
        case busy
        /// No space is left; clears once there is some.
        case diskFull
        case inputOutput
        case cannotOpen
        /// The file is not an SQLite database.
        case notADatabase
        case corrupt
        case readOnly
        case constraint
        case other
    }

    /// SQLITE_IOERR_SHMSIZE: the index of the write-ahead log, a file beside it, cannot grow.
    private static let noSharedMemory = SQLITE_IOERR | 19 << 8

    package var condition: Condition {
        switch code {
        case SQLITE_BUSY, SQLITE_LOCKED: .busy
        case SQLITE_FULL: .diskFull
        case SQLITE_IOERR where extendedCode == Self.noSharedMemory: .diskFull
        case SQLITE_IOERR: .inputOutput
        case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .cannotOpen
        case SQLITE_NOTADB: .notADatabase
        case SQLITE_CORRUPT: .corrupt
        case SQLITE_READONLY: .readOnly
        case SQLITE_CONSTRAINT: .constraint
        default: .other
        }
    }
}

extension SQLiteError: CustomStringConvertible {
    package var description: String {
        let statement = sql.map { " in: \($0)" } ?? ""
        return "SQLite error \(extendedCode): \(message)\(statement)"
    }
}
