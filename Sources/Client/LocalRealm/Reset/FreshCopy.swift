internal import Changesets
internal import ClientReset
internal import Documents
internal import Glibc
internal import SQLite
internal import Schemas
internal import Versions

/// The server's state as it was downloaded anew beside the realm; only ever read (client reset, 4).
final class FreshCopy {
    let connection: Connection
    let state: RealmStateRow
    let tables: RealmTables

    init(path: String, vfs: String?) throws {
        connection = try Connection(path: path, .init(mode: .readOnly, vfs: vfs))
        guard let state = try RealmStateRow(from: connection), state.fileIdent != .none else {
            throw ResetFailure.noFreshCopy("the download was not finished")
        }
        self.state = state
        let catalogue = try CatalogueStore(connection: connection).load(options: [:])
        tables = RealmTables(connection, catalogue, StatementPool(connection))
    }

    func close() {
        connection.close()
    }
}

extension RealmFile {
    /// Where the server's state is downloaded to.
    package static func freshPath(of path: String) -> String { path + ".fresh" }

    /// Where the realm as it was before a reset is kept until its handlers have seen it.
    package static func earlierPath(of path: String) -> String { path + ".before" }

    /// Removes a closed realm, but for its lock.
    package static func remove(_ path: String) {
        removeFreshCopy(of: path)
        unlink(earlierPath(of: path))
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Removes the fresh copy and what stands beside it.
    package static func removeFreshCopy(of path: String) {
        for suffix in ["", "-wal", "-shm", ".lock"] {
            unlink(freshPath(of: path) + suffix)
        }
    }
}
