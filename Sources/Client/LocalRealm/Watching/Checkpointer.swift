internal import Glibc
internal import SQLite

/// Copies the write-ahead log back into the database file before it grows large (local realm, 6).
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
    package var logSizeInBytes: Int {
        var status = stat()
        return stat(path + "-wal", &status) == 0 ? Int(status.st_size) : 0
    }

    /// Checkpoints as the size of the log requires; never waits for another program.
    package func run() throws(LocalRealmError) {
        let size = logSizeInBytes
        guard size > Self.passiveThresholdInBytes else { return }
        try RealmFile.mappingErrors(path) {
            let isCopied = try connection.checkpoint(.passive)
            // Emptying it keeps all programs from writing, so that little may be left to copy.
            guard isCopied, size > Self.truncateThresholdInBytes else { return }
            _ = try connection.checkpoint(.truncate)
        }
    }
}
