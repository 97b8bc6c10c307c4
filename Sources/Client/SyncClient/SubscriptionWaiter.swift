import Coordination
package import Subscriptions
import Versions

/// A wait until the server has bootstrapped a subscription set, or rejected it.
struct SubscriptionWaiter {
    let version: QueryVersion
    let outcome = Promise<SubscriptionOutcome>()
}

/// The end of a wait for a subscription set.
package enum SubscriptionOutcome: Sendable, Equatable {
    /// Complete, failed or superseded.
    case reached(SubscriptionProgress)
    /// The set was never committed.
    case unknown
    /// The session cannot continue, or the realm was closed.
    case interrupted(SyncOutcome)
    case timedOut
}
