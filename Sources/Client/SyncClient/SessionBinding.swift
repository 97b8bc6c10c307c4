import Changesets
import Scopes
import SyncProtocol

/// The path of a session's BIND, and the mode of its connection.
struct SessionBinding: Hashable, Sendable {
    let path: Text
    let mode: SyncMode

    /// - Parameters:
    ///   - isFreshCopy: whether the session downloads the fresh copy for a client reset.
    ///   - migratedPartition: the partition of a realm whose app has changed to flexible sync.
    init(_ scope: SyncScope, isFreshCopy: Bool = false, migratedPartition: Text? = nil) {
        switch scope {
        case .partition(let partition):
            path = Text(partition.canonicalText)
            mode = .partitionBased
        case .subscriptions:
            path =
                FlexibleBinding(
                    migratedPartition: migratedPartition,
                    purpose: isFreshCopy ? .clientReset : .sync
                ).encoded
            mode = .flexible
        case .unsynced:
            preconditionFailure("a file that is not synced has no session")
        }
    }
}
