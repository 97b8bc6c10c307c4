import Changesets

/// A mutable copy of the latest subscription set, on its way to become the next one (flexible sync, 3).
package struct SubscriptionEdit {
    package private(set) var subscriptions: [Subscription]
    /// Milliseconds since 1970.
    private let now: Int64

    package init(of subscriptions: [Subscription], now: Int64) {
        self.subscriptions = subscriptions
        self.now = now
    }

    /// Carries out one operation.
    ///
    /// - Returns: how many subscriptions it added, replaced or removed.
    @discardableResult
    package mutating func apply(
        _ operation: SubscriptionOperation,
        using random: inout some RandomNumberGenerator
    ) throws(SubscriptionError) -> Int {
        switch operation {
        case .add(let content):
            if let name = content.name, position(ofName: name) != nil {
                throw SubscriptionError(.nameTaken, content.description)
            }
            put(content, using: &random)
            return 1
        case .put(let content):
            put(content, using: &random)
            return 1
        case .update(let selector, let query):
            return try update(selector, query, using: &random)
        case .remove(let selector):
            let count = subscriptions.count
            subscriptions.removeAll { selector.matches($0) }
            return count - subscriptions.count
        case .replaceAll(let contents):
            return try replaceAll(with: contents, using: &random)
        }
    }

    private func position(ofName name: Text) -> Int? {
        subscriptions.firstIndex { $0.name == name }
    }

    private mutating func put(
        _ content: SubscriptionContent,
        using random: inout some RandomNumberGenerator
    ) {
        let existing =
            if let name = content.name {
                position(ofName: name)
            } else {
                subscriptions.firstIndex { $0.content == content }
            }
        guard let existing else {
            subscriptions.append(new(content, using: &random))
            return
        }
        subscriptions[existing].className = content.className
        subscriptions[existing].query = content.query
        subscriptions[existing].updatedAt = now
    }

    private func new(
        _ content: SubscriptionContent,
        using random: inout some RandomNumberGenerator
    ) -> Subscription {
        Subscription(
            id: newID(using: &random),
            createdAt: now,
            updatedAt: now,
            name: content.name,
            className: content.className,
            query: content.query
        )
    }

    /// Seconds and eight random bytes, as the reference client makes them.
    private func newID(using random: inout some RandomNumberGenerator) -> ObjectID {
        let seconds = UInt32(truncatingIfNeeded: now / 1000)
        let bytes =
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: seconds >> $0) }
            + (0..<8).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard let id = ObjectID(bytes: bytes) else {
            preconditionFailure("an object id has 12 bytes")
        }
        return id
    }

    private mutating func update(
        _ selector: SubscriptionSelector,
        _ query: Text,
        using random: inout some RandomNumberGenerator
    ) throws(SubscriptionError) -> Int {
        let found = subscriptions.filter { selector.matches($0) }
        guard !found.isEmpty else {
            throw SubscriptionError(.notFound, selector.description)
        }
        for subscription in found {
            if subscription.name == nil { subscriptions.removeAll { $0.id == subscription.id } }
            put(
                SubscriptionContent(
                    name: subscription.name,
                    className: subscription.className,
                    query: query
                ),
                using: &random
            )
        }
        return found.count
    }

    private mutating func replaceAll(
        with contents: [SubscriptionContent],
        using random: inout some RandomNumberGenerator
    ) throws(SubscriptionError) -> Int {
        var names: Set<Text> = []
        for case (let content, let name?) in contents.map({ ($0, $0.name) }) {
            guard names.insert(name).inserted else {
                throw SubscriptionError(.nameTaken, content.description)
            }
        }
        let earlier = subscriptions
        subscriptions = []
        for content in contents {
            // As it is, or with another query under its name.
            if let same = earlier.first(where: { $0.content == content }) {
                if !subscriptions.contains(where: { $0.id == same.id }) {
                    subscriptions.append(same)
                }
                continue
            }
            if let name = content.name, let namesake = earlier.first(where: { $0.name == name }) {
                subscriptions.append(namesake)
            }
            put(content, using: &random)
        }
        return Set(earlier.map(\.content)).symmetricDifference(subscriptions.map(\.content)).count
    }
}
