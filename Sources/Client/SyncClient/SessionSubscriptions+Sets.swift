import Subscriptions
import SyncProtocol

extension SessionSubscriptions {
    init(_ sets: SubscriptionSets) {
        self.init(
            active: sets.active.message,
            isAwaitingMark: sets.isAwaitingMark,
            pending: sets.pending.map { set in
                Pending(query: set.message, snapshotVersion: set.snapshotVersion)
            }
        )
    }
}

extension SubscriptionSet {
    /// The set as the server sees it.
    fileprivate var message: ClientMessage.Query {
        ClientMessage.Query(version: version, body: queryBody)
    }
}
