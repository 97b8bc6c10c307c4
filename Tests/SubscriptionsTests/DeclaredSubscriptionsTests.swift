import Changesets
import Testing

@testable import Subscriptions

@Suite("Declared subscriptions")
struct DeclaredSubscriptionsTests {
    private static func subscription(_ content: SubscriptionContent) -> Subscription {
        Subscription(
            id: .zero,
            createdAt: 0,
            updatedAt: 0,
            name: content.name,
            className: content.className,
            query: content.query
        )
    }

    private static let own = SubscriptionContent(name: "own", className: "Order", query: "a == 1")
    private static let unnamed = SubscriptionContent(className: "Order", query: "a == 2")

    @Test("They have names of their own in the set, and are recognised there")
    func names() {
        let own = Self.subscription(DeclaredSubscriptions.stored(Self.own))
        let unnamed = Self.subscription(DeclaredSubscriptions.stored(Self.unnamed))
        #expect(own.name == "yaml:own")
        #expect(DeclaredSubscriptions.declaredName(of: own) == "own")
        #expect(DeclaredSubscriptions.isDeclared(unnamed))
        #expect(DeclaredSubscriptions.declaredName(of: unnamed) == nil)
        let added = Self.subscription(Self.own)
        #expect(!DeclaredSubscriptions.isDeclared(added))
        #expect(DeclaredSubscriptions.declaredName(of: added) == nil)
        #expect(DeclaredSubscriptions.isReserved("yaml:x"))
    }

    @Test("What is not declared any more is removed, what was added stays")
    func operations() {
        let current = [
            Self.subscription(DeclaredSubscriptions.stored(Self.own)),
            Self.subscription(DeclaredSubscriptions.stored(Self.unnamed)),
            Self.subscription(SubscriptionContent(name: "own", className: "Order")),
            Self.subscription(SubscriptionContent(className: "Item")),
        ]
        var changed = Self.own
        changed.query = "a == 3"
        let operations = DeclaredSubscriptions.operations([changed], over: current)
        let obsolete = DeclaredSubscriptions.stored(Self.unnamed).name ?? ""
        #expect(
            operations == [
                .remove(.name(obsolete)), .put(DeclaredSubscriptions.stored(changed)),
            ]
        )
    }

    @Test("Unnamed ones are told apart by class and query")
    func unnamed() {
        let contents = [
            Self.unnamed, SubscriptionContent(className: "Order", query: "a == 3"),
            SubscriptionContent(className: "Item", query: "a == 2"),
        ]
        #expect(Set(contents.map { DeclaredSubscriptions.stored($0).name }).count == 3)
        #expect(
            DeclaredSubscriptions.stored(Self.unnamed) == DeclaredSubscriptions.stored(Self.unnamed)
        )
    }
}
