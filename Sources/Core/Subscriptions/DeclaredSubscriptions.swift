package import Changesets

/// The part of a subscription set that a configuration declares, beside what users and programs add.
///
/// Declared subscriptions have names with a prefix of their own in the set. So the set itself tells which
/// they are, also after a restart with another configuration, and the two parts never compete for a name.
package enum DeclaredSubscriptions {
    /// Begins the names of declared subscriptions; others must not use it.
    package static let prefix: Text = "yaml:"

    package static func isDeclared(_ subscription: Subscription) -> Bool {
        subscription.name.map(isReserved) ?? false
    }

    package static func isReserved(_ name: Text) -> Bool {
        name.bytes.starts(with: prefix.bytes)
    }

    /// The name in the configuration; nil for a subscription without one, or that is not declared.
    package static func declaredName(of subscription: Subscription) -> Text? {
        guard let name = subscription.name, isReserved(name) else { return nil }
        let rest = Array(name.bytes.dropFirst(prefix.bytes.count))
        return rest.contains(unnamedMark) ? nil : Text(bytes: rest)
    }

    /// The operations that make the declared part of a set what the configuration says, in canonical
    /// texts or as written; the other part stays.
    package static func operations(
        _ declared: [SubscriptionContent],
        over current: [Subscription]
    ) -> [SubscriptionOperation] {
        let wanted = declared.map(stored)
        let names = Set(wanted.compactMap(\.name))
        let obsolete = current.compactMap(\.name).filter { isReserved($0) && !names.contains($0) }
        return obsolete.map { .remove(.name($0)) } + wanted.map { .put($0) }
    }

    /// The subscription under its name in the set.
    static func stored(_ content: SubscriptionContent) -> SubscriptionContent {
        var stored = content
        if let name = content.name {
            stored.name = Text(bytes: prefix.bytes + name.bytes)
        } else {
            // Class and query identify it.
            let mark = String(fingerprint(of: content), radix: 16)
            stored.name = Text(
                bytes: prefix.bytes + content.className.bytes + [unnamedMark] + Array(mark.utf8)
            )
        }
        return stored
    }

    /// A control character, which names in a configuration do not have.
    private static let unnamedMark: UInt8 = 0x1f

    /// FNV-1a, 64 bits.
    private static func fingerprint(of content: SubscriptionContent) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in content.className.bytes + [0] + content.query.bytes {
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        return hash
    }
}
