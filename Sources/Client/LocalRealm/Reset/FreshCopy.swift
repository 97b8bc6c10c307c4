internal import Changesets
internal import ClientReset
internal import Documents
internal import Glibc
internal import SQLite
internal import Schemas
internal import Subscriptions
internal import Versions

/// The server's state, downloaded beside the realm; read-only (client reset, 4).
final class FreshCopy {
    let connection: Connection
    let state: RealmStateRow
    let tables: RealmTables
    /// Those of its active set; none in a copy of a partition.
    let subscriptions: [Subscription]

    init(path: String, vfs: String?) throws {
        connection = try Connection(path: path, .init(mode: .readOnly, vfs: vfs))
        guard let state = try RealmStateRow(from: connection), state.fileIdent != .none else {
            throw ResetFailure.noFreshCopy("the download did not finish")
        }
        self.state = state
        let catalogue = try CatalogueStore(connection: connection).load(options: [:])
        tables = RealmTables(connection, catalogue, StatementPool(connection))
        subscriptions =
            try SubscriptionStore(connection: connection).load()?.active.subscriptions ?? []
    }

    func close() {
        connection.close()
    }
}

extension RealmFile {
    /// The path of the fresh copy.
    package static func freshPath(of path: String) -> String { path + ".fresh" }

    /// The path of the realm's state before a reset, kept until the handlers have seen it.
    package static func earlierPath(of path: String) -> String { path + ".before" }

    /// Removes a closed realm, except for its lock.
    package static func remove(_ path: String) {
        removeFreshCopy(of: path)
        unlink(earlierPath(of: path))
        for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
    }

    /// Removes the fresh copy and the files beside it.
    package static func removeFreshCopy(of path: String) {
        for suffix in ["", "-wal", "-shm", ".lock"] {
            unlink(freshPath(of: path) + suffix)
        }
    }
}
