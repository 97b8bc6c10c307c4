import SQLite
import ServerStore

/// The store's contract in SQL, on one connection. All reads and writes belong to the open transaction.
final class SQLiteTransaction: SQLiteDocumentTransaction, AccountWriting, FileWriting {
    /// Configures the connection and prepares the tables, which a server that uses them has done.
    func prepare(isAlone: Bool = true) throws(StoreError) {
        try translating {
            try StoreLayout.setPageSize(of: connection)
            // An acknowledged commit must survive a power cut.
            try connection.execute("PRAGMA journal_mode = WAL")
            try connection.execute("PRAGMA synchronous = FULL")
            // In KiB: large enough for a batch of objects to keep the pages that it uses twice.
            try connection.execute("PRAGMA cache_size = -16384")
            try isAlone ? StoreLayout.prepare(connection) : StoreLayout.check(connection)
        }
        if isAlone { try StoreRepair.run(in: self) }
    }
}
