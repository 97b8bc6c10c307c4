import Changesets
import LocalRealm
public import Subscriptions
import SyncClient
import Versions

/// A query, its class, and its name if it has one.
public typealias SubscriptionContent = Subscriptions.SubscriptionContent
/// One change to the subscriptions of a realm.
public typealias SubscriptionOperation = Subscriptions.SubscriptionOperation
/// The subscriptions that a change concerns.
public typealias SubscriptionSelector = Subscriptions.SubscriptionSelector
/// The reason why subscriptions were not changed.
public typealias SubscriptionError = Subscriptions.SubscriptionError

/// The subscription sets of a realm at one moment.
public struct SubscriptionStatus: Sendable, Equatable {
    /// The set whose objects the file holds.
    public let active: SubscriptionSet
    /// The newest set; equal to `active` when nothing is pending.
    public let latest: SubscriptionSet
    /// The event that the latest set needs next; nil if it is settled.
    public let wait: Wait?
    /// Classes that links of subscribed classes lead to, and that have no subscription themselves: such
    /// links read as null.
    public let unsubscribedTargets: [String]

    /// The next event that a pending set needs.
    public enum Wait: Sendable, Equatable {
        /// A connection to the server.
        case connection
        /// The upload of what was written before the set was committed.
        case uploads
        /// The server's objects; the share that has come, if the server tells.
        case bootstrap(estimate: Double?)
    }
}

extension SubscriptionStatus {
    /// Nil unless the realm uses flexible sync.
    init?(_ snapshot: RealmClientStatus) {
        guard let sets = snapshot.file.subscriptions else { return nil }
        active = sets.active
        latest = sets.latest
        unsubscribedTargets = snapshot.file.unsubscribedTargets.map(\.description)
        guard latest.progress == .pending else {
            wait = nil
            return
        }
        if snapshot.phase != .bound {
            wait = .connection
        } else if latest.state == .pending,
            snapshot.file.progress.upload.clientVersion < latest.snapshotVersion,
            snapshot.acknowledgedVersion < latest.snapshotVersion.rawValue
        {
            wait = .uploads
        } else {
            wait = .bootstrap(estimate: snapshot.bootstrapEstimate)
        }
    }
}

/// A committed change of the subscriptions.
public struct SubscriptionCommit: Sendable, Equatable {
    /// The latest set.
    public let set: SubscriptionSet
    /// Whether the change made it; false if the set had the same content already.
    public let isNew: Bool
    /// For each operation, how many subscriptions it added, replaced or removed.
    public let counts: [Int]
}

/// The end of a wait for a subscription set.
public enum SubscriptionResult: Sendable, Equatable {
    /// Everything that matched when the server answered is in the file.
    case complete
    /// The server rejected the set, with this text; the subscriptions concerned, as far as it tells.
    case failed(String, rejected: [Subscription])
    /// A newer set has taken its place.
    case superseded
    /// There is no such set.
    case unknown
    /// The wait ended for another reason.
    case ended(SyncResult)
}
