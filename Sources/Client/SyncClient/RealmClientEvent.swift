package import LocalRealm
package import Subscriptions
package import SyncProtocol

/// An event of a realm, published as it happens.
package enum RealmClientEvent: Sendable {
    case phase(SessionPhase, DownloadStatus)
    /// The server reported an error; fatal if the session does not retry automatically.
    case problem(ServerProblem, isFatal: Bool)
    /// The file failed.
    case failed(LocalRealmError)
    /// The state of a subscription set has changed.
    case subscriptions(SubscriptionChange)
    /// A local value that cannot be sent.
    case rejected(RejectedValue)
    /// The server has local changesets: how many, and how long after their capture those that were
    /// timed.
    case acknowledged(changesets: Int, after: [Duration])
    /// Changes of others are in the file.
    case integrated(changesets: Int, duration: Duration, localVersion: UInt64)
}
