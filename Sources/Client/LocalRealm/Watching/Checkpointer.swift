internal import SQLite

/// Copies the write-ahead log back into the database file before it grows large, and gives the space of
/// deleted rows back to the file system (local realm, 6).
///
/// It has a connection of its own, so that the agent's writes need not wait for it: run it on
/// another thread, after commits. Programs checkpoint as well, at their own threshold, which is
/// harmless.
package final class Checkpointer {
    private let connection: Connection
    private let path: String

    /// From this size on, the part that no reader needs is copied.
    package static let passiveThresholdInBytes = 4 << 20
    /// From this size on, the log is emptied if no program is reading.
    package static let truncateThresholdInBytes = 64 << 20

    package init(path: String, vfs: String? = nil) throws(LocalRealmError) {
        self.path = path
        self.connection = try RealmFile.mappingErrors(path) {
            let options = Connection.Options(mode: .readWrite, vfs: vfs, busyTimeout: .zero)
            let connection = try Connection(path: path, options)
            try connection.execute("PRAGMA wal_autocheckpoint = 0")
            return connection
        }
    }

    /// Size of the log; a long reader lets it grow without bound.
    package var logSizeInBytes: Int { Self.logSizeInBytes(of: path) }

    /// Whether a realm's log may need a checkpoint, by its size alone.
    package static func isLogLarge(of path: String) -> Bool {
        logSizeInBytes(of: path) > passiveThresholdInBytes
    }

    /// Whether a checkpoint may do something, by the sizes of the files alone: for most realms it is not worth a
    /// connection.
    package static func mayHaveWork(at path: String) -> Bool {
        isLogLarge(of: path)
            || FileHome.size(of: path) > UInt64(keptFreePages) * smallestPageInBytes
    }

    private static let smallestPageInBytes: UInt64 = 512

    private static func logSizeInBytes(of path: String) -> Int {
        Int(clamping: FileHome.size(of: path + "-wal"))
    }

    /// Checkpoints as the size of the log requires, and shrinks a file that is empty for a large part; never
    /// waits for another program.
    ///
    /// - Returns: whether there is more to do: a program reads what must be copied or emptied, or the file can
    ///   shrink further.
    @discardableResult
    package func run() throws(LocalRealmError) -> Bool {
        try RealmFile.mappingErrors(path) {
            let hasShrunk = try returnFreePages()
            let size = logSizeInBytes
            guard hasShrunk || size > Self.passiveThresholdInBytes else { return false }
            let isCopied = try connection.checkpoint(.passive)
            // Emptying it keeps all programs from writing, so that little may be left to copy.
            guard isCopied, size > Self.truncateThresholdInBytes else {
                return hasShrunk || !isCopied
            }
            return try !connection.checkpoint(.truncate) || hasShrunk
        }
    }
}

// MARK: Free pages

extension Checkpointer {
    /// Fewer free pages are kept for new rows; so is a share of the file below a quarter.
    package static let keptFreePages: Int64 = 1024
    /// Pages of one transaction, a millisecond's work for which programs may have to wait.
    private static let pagesAtOnce = 256
    private static let transactionsAtOnce = 4

    /// Moves pages from the end of the file into free ones before, and cuts the file with the next checkpoint.
    ///
    /// Only in files that were made for it (`auto_vacuum`); the next run continues.
    private func returnFreePages() throws -> Bool {
        var hasShrunk = false
        for _ in 0..<Self.transactionsAtOnce {
            guard let free = try connection.integer("PRAGMA freelist_count"),
                let pages = try connection.integer("PRAGMA page_count"),
                free > Self.keptFreePages, free > pages / 4,
                try connection.integer("PRAGMA auto_vacuum") != 0
            else { break }
            do {
                try connection.transaction(.immediate) {
                    try connection.execute("PRAGMA incremental_vacuum(\(Self.pagesAtOnce))")
                }
            } catch let error as SQLiteError where error.condition == .busy {
                break
            }
            hasShrunk = true
        }
        return hasShrunk
    }
}
