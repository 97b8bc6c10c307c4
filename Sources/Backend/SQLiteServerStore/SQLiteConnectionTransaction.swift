import Changesets
import Logging
import SQLite
import ServerStore
import Versions

/// A transaction on one connection of an SQLite store: its begin and end, and the form of its errors.
///
/// The parts of the store's contract are subclasses, one above the other; `SQLiteTransaction` is all of it.
class SQLiteConnectionTransaction {
    let connection: Connection
    let versionSalts: VersionSalts
    let logger: Logger
    var schemas = SchemaCache()

    init(_ connection: Connection, versionSalts: VersionSalts, logger: Logger) {
        self.connection = connection
        self.versionSalts = versionSalts
        self.logger = logger
    }

    func close() {
        connection.close()
    }
}

// MARK: Transactions

extension SQLiteConnectionTransaction {
    var isOpen: Bool { connection.isInTransaction }

    var lostTransaction: StoreError {
        StoreError(.diskFull, "\(connection.path): SQLite gave the transaction up")
    }

    func begin() throws(StoreError) {
        try translating { try connection.run("BEGIN IMMEDIATE") }
    }

    /// Holds the present state until it is rolled back.
    func beginReading() throws(StoreError) {
        try translating {
            try connection.run("BEGIN")
            // The first read fixes the state.
            _ = try connection.integer("SELECT count(*) FROM app")
        }
    }

    func copy(to path: String) throws(StoreError) {
        try translating { try connection.run("VACUUM INTO ?", [.text(path)]) }
    }

    func commit() throws(StoreError) {
        try translating { try connection.run("COMMIT") }
    }

    func rollBack() {
        if connection.isInTransaction { try? connection.run("ROLLBACK") }
    }

    func inSavepoint<Outcome>(_ body: () throws -> Outcome) throws -> Outcome {
        do {
            return try connection.savepoint("write", body)
        } catch let error as SQLiteError {
            throw StoreError(error, path: connection.path)
        }
    }

    func snapshot<Outcome>(_ body: () throws -> Outcome) throws -> Outcome {
        do {
            return try connection.transaction(.deferred, body)
        } catch let error as SQLiteError {
            throw StoreError(error, path: connection.path)
        }
    }

    /// Turns every error of SQLite into a `StoreError`.
    func translating<Result>(_ body: () throws -> Result) throws(StoreError) -> Result {
        do {
            return try body()
        } catch let error as StoreError {
            throw error
        } catch let error as SQLiteError {
            throw StoreError(error, path: connection.path)
        } catch {
            throw StoreError(.failed, "\(connection.path): \(error)")
        }
    }

    func damaged(_ what: String) -> StoreError {
        StoreError(.unusable, "\(connection.path): the store is damaged: \(what)")
    }
}

extension StoreError {
    init(_ error: SQLiteError, path: String) {
        switch error.condition {
        case .busy: self.init(.locked, "\(path): another program keeps the store locked")
        case .diskFull: self.init(.diskFull, "\(path): no space is left for the store")
        case .notADatabase: self.init(.unusable, "\(path): this is not an SQLite database")
        case .corrupt: self.init(.unusable, "\(path): the store is damaged: \(error)")
        case .inputOutput, .cannotOpen, .readOnly, .constraint, .other:
            self.init(.failed, "\(path): \(error)")
        }
    }
}

// MARK: Numbers

extension SQLiteValue {
    /// Versions, idents and salts stay below 2^63.
    static func number(_ value: UInt64) -> SQLiteValue {
        .integer(Int64(clamping: value))
    }
}

extension Statement {
    func number(at column: Int) -> UInt64 {
        UInt64(clamping: integer(at: column))
    }
}
