public import Changesets

/// One change to a subscription set (flexible sync, 3).
public enum SubscriptionOperation: Hashable, Sendable {
    /// Adds a subscription; fails if the name exists. An unnamed one that exists is only refreshed.
    case add(SubscriptionContent)
    /// Adds a subscription, or replaces class and query of the one with its name.
    case put(SubscriptionContent)
    /// Gives a subscription another query. An unnamed one is replaced by a new one.
    case update(SubscriptionSelector, query: Text)
    case remove(SubscriptionSelector)
    /// Replaces the whole set. A subscription that stays keeps its id and times.
    case replaceAll([SubscriptionContent])
}

/// The subscriptions of a set that an operation concerns.
public enum SubscriptionSelector: Hashable, Sendable {
    case id(ObjectID)
    case name(Text)
    /// By class and exact text; named ones match too.
    case query(className: Text, query: Text)
    case className(Text)
    case unnamed
    case all

    func matches(_ subscription: Subscription) -> Bool {
        switch self {
        case .id(let id): subscription.id == id
        case .name(let name): subscription.name == name
        case .query(let className, let query):
            subscription.className == className && subscription.query == query
        case .className(let className): subscription.className == className
        case .unnamed: subscription.name == nil
        case .all: true
        }
    }
}

extension SubscriptionSelector: CustomStringConvertible {
    public var description: String {
        switch self {
        case .id(let id): "the subscription with id \(id)"
        case .name(let name): "subscription \"\(name)\""
        case .query(let className, let query):
            SubscriptionContent(className: className, query: query).description
        case .className(let className): "subscriptions to \(className)"
        case .unnamed: "unnamed subscriptions"
        case .all: "subscriptions"
        }
    }
}
