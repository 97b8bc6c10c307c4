public import Versions

/// A change of the state of a subscription set.
public struct SubscriptionChange: Hashable, Sendable {
    public let version: QueryVersion
    public let progress: SubscriptionProgress
    /// The stored state; nil for a set that a newer one has replaced.
    public let state: SubscriptionSetState?
    /// The subscriptions that the server rejects, as far as its text tells.
    public let rejected: [Subscription]

    package init(_ set: SubscriptionSet) {
        version = set.version
        progress = set.progress
        state = set.state
        rejected = set.rejected
    }

    package init(superseding set: SubscriptionSet) {
        version = set.version
        progress = .superseded
        state = nil
        rejected = []
    }
}
