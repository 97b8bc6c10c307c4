package import Changesets
import Query
public import Versions

/// The subscriptions of one query version; a complete replacement of the set before it (flexible sync,
/// 2.2).
public struct SubscriptionSet: Hashable, Sendable {
    public let version: QueryVersion
    public internal(set) var state: SubscriptionSetState
    /// The client version that was newest before the transaction that committed the set: what lies above
    /// it is uploaded after the set's QUERY.
    package let snapshotVersion: ClientVersion
    /// In the order of their insertion, as far as removals allow.
    public let subscriptions: [Subscription]

    package init(
        version: QueryVersion,
        state: SubscriptionSetState = .pending,
        snapshotVersion: ClientVersion,
        subscriptions: [Subscription]
    ) {
        self.version = version
        self.state = state
        self.snapshotVersion = snapshotVersion
        self.subscriptions = subscriptions
    }

    /// The classes with a subscription: programs may insert objects of these.
    package var classNames: Set<Text> { Set(subscriptions.map(\.className)) }

    /// The body of the set's IDENT or QUERY (flexible sync, 5.1).
    package var queryBody: Text { Text(bytes: body.encoded) }

    /// The same, class by class.
    var body: SubscriptionSetBody {
        SubscriptionSetBody(
            joining: Dictionary(grouping: subscriptions, by: \.className).mapValues {
                $0.map(\.query.bytes)
            }
        )
    }

    /// Whether both sets select the same objects under the same names; ids and times do not count.
    package func hasSameContent(as other: [Subscription]) -> Bool {
        Set(subscriptions.map(\.content)) == Set(other.map(\.content))
    }
}

/// The state of a stored subscription set (flexible sync, 4).
public enum SubscriptionSetState: Hashable, Sendable {
    /// Committed here, and not bootstrapped.
    case pending
    /// A part of its bootstrap is staged.
    case bootstrapping
    /// Its bootstrap is applied; the answer to a MARK is outstanding.
    case awaitingMark
    /// Everything that matched when the server answered the MARK is in the file.
    case complete
    /// The server rejected it, with this text.
    case failed(String)
}

extension SubscriptionSetState {
    /// Whether the server still has to answer the set's QUERY.
    package var isPending: Bool { self == .pending || self == .bootstrapping }

    /// Whether the file holds the set's view.
    package var isActive: Bool { self == .awaitingMark || self == .complete }
}
