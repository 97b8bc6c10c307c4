package import Versions

/// The progress of one query version, as users see it (flexible sync, 4).
public enum SubscriptionProgress: Hashable, Sendable {
    case pending
    case complete
    /// The server rejected the set, with this text.
    case failed(String)
    /// A newer set has taken its place.
    case superseded
}

extension SubscriptionSets {
    /// Nil for a version that was never committed.
    package func progress(of version: QueryVersion) -> SubscriptionProgress? {
        guard let set = self[version] else {
            return version < latest.version ? .superseded : nil
        }
        return set.progress
    }

    /// Whether the server has answered the latest set.
    package var isSettled: Bool { latest.progress != .pending }
}

extension SubscriptionSet {
    public var progress: SubscriptionProgress {
        switch state {
        case .pending, .bootstrapping, .awaitingMark: .pending
        case .complete: .complete
        case .failed(let text): .failed(text)
        }
    }

    /// The subscriptions that the server rejects, as far as its text tells; empty in other states.
    public var rejected: [Subscription] {
        if case .failed(let text) = state { subscriptions(blamedBy: text) } else { [] }
    }
}
