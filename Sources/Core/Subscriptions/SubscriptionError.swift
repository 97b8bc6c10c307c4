/// The reason why a subscription set was not changed; names the subscription.
public struct SubscriptionError: Error, Hashable, Sendable {
    public let kind: Kind
    /// The subscription concerned, as a noun phrase.
    public let subscription: String
    /// Details of an invalid query: column, problem and remedy.
    public let detail: String?

    package init(_ kind: Kind, _ subscription: String, detail: String? = nil) {
        self.kind = kind
        self.subscription = subscription
        self.detail = detail
    }

    public enum Kind: String, CaseIterable, Sendable {
        case nameTaken = "subscription.name_taken"
        case notFound = "subscription.not_found"
        case invalidQuery = "subscription.invalid_query"
        /// The realm holds a partition, or is not synced.
        case notFlexible = "subscription.not_flexible"
        /// The realm's file is not open.
        case notOpen = "subscription.not_open"
        /// The file could not be written.
        case file = "subscription.file"
    }

    /// The stable code for logs, events and documentation (interfaces, 5).
    public var code: String { kind.rawValue }

    /// The remedy, as a clause.
    public var remedy: String {
        switch kind {
        case .nameTaken: "choose another name, or update the existing subscription"
        case .notFound: "list the subscriptions to find the right one"
        case .invalidQuery: "correct the query"
        case .notFlexible: "configure the realm for flexible sync"
        case .notOpen: "wait until the realm is open"
        case .file: "try again; if it persists, check the disk"
        }
    }
}

extension SubscriptionError: CustomStringConvertible {
    public var description: String {
        switch kind {
        case .nameTaken: "\(subscription) exists already; \(remedy) [\(code)]"
        case .notFound: "\(subscription) not found; \(remedy) [\(code)]"
        case .invalidQuery: "\(subscription): \(detail ?? remedy) [\(code)]"
        case .notFlexible: "\(subscription) has no subscriptions; \(remedy) [\(code)]"
        case .notOpen: "\(subscription) is not open; \(remedy) [\(code)]"
        case .file: "\(subscription): \(detail ?? remedy) [\(code)]"
        }
    }
}
