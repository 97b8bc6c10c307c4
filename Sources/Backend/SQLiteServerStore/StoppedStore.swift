import Glibc
package import SQLite
import ServerStore

/// The file of an embedded store for tools, while no server uses it.
package final class StoppedStore {
    package let connection: Connection
    /// Keeps servers out.
    private let file: StoreFile

    /// Locks the file, and brings its tables to the layout of this version.
    package init(path: String, createsFile: Bool) throws {
        guard createsFile || access(path, F_OK) == 0 else {
            throw StoreError(.failed, "\(path): there is no store")
        }
        file = try StoreFile(path: path)
        connection = try Connection(path: path)
        try StoreLayout.setPageSize(of: connection)
        try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        if try StoreLayout.movedTo(connection) == nil { try StoreLayout.prepare(connection) }
    }

    /// The place that the store was copied to; nil if it was not.
    package func movedTo() throws -> String? {
        try StoreLayout.movedTo(connection)
    }

    /// From now on no server uses the store.
    package func markMoved(to place: String) throws {
        try StoreLayout.markMoved(connection, to: place)
    }
}
