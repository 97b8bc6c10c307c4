public import Changesets

/// One query of a class in a subscription set (flexible sync, 2.1).
public struct Subscription: Hashable, Sendable {
    public let id: ObjectID
    /// Milliseconds since 1970.
    public let createdAt: Int64
    /// Milliseconds since 1970: when it was last added or its query changed.
    public internal(set) var updatedAt: Int64
    /// Unique within the set; nil for an unnamed subscription.
    public let name: Text?
    public internal(set) var className: Text
    /// In the query language of subscriptions; `TRUEPREDICATE` selects all objects of the class.
    public internal(set) var query: Text

    package init(
        id: ObjectID,
        createdAt: Int64,
        updatedAt: Int64,
        name: Text?,
        className: Text,
        query: Text
    ) {
        self.id = id
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.name = name
        self.className = className
        self.query = query
    }
}

extension Subscription: CustomStringConvertible {
    /// For errors and logs: the name, or else class and query.
    public var description: String { content.description }

    /// The subscription without its identity and times.
    package var content: SubscriptionContent {
        SubscriptionContent(name: name, className: className, query: query)
    }
}

/// A subscription as a user, a configuration or a program asks for it.
public struct SubscriptionContent: Hashable, Sendable {
    /// Nil for an unnamed subscription.
    public var name: Text?
    public var className: Text
    public var query: Text

    public init(name: Text? = nil, className: Text, query: Text = Self.everything) {
        self.name = name
        self.className = className
        self.query = query
    }

    /// The query that selects all objects of a class.
    public static let everything: Text = "TRUEPREDICATE"
}

extension SubscriptionContent: CustomStringConvertible {
    public var description: String {
        if let name { return "subscription \"\(name)\"" }
        // A query may have 256 KiB.
        let text = query.description
        let shortened = text.count > 80 ? "\(text.prefix(77))..." : text
        return "subscription to \(className) where \(shortened)"
    }
}
