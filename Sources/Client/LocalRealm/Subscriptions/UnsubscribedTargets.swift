internal import Changesets
internal import Schemas

/// The classes that links of subscribed classes lead to, and that have no subscription (features, Q10).
///
/// Kept until classes or subscriptions change, since the status needs it after each transaction.
final class UnsubscribedTargets {
    private var subscribed: Set<Text>?
    private var schemaVersion: Int64?
    private var names: [Text] = []

    func value(_ draft: Draft) -> [Text] {
        guard let classes = draft.catalogue.subscribedClasses else { return [] }
        if subscribed != classes || schemaVersion != draft.schemaVersion {
            names = Self.names(draft.catalogue.schema, classes)
            (subscribed, schemaVersion) = (classes, draft.schemaVersion)
        }
        return names
    }

    /// In order of their names.
    static func names(_ schema: RealmSchema, _ subscribed: Set<Text>) -> [Text] {
        var (seen, targets) = (subscribed, Set<Text>())
        var open = Array(subscribed)
        while let name = open.popLast() {
            for property in schema[name]?.properties ?? [] {
                guard case .link(let target) = property.type, !subscribed.contains(target) else {
                    continue
                }
                // Embedded objects come with their owners, and may link on.
                guard schema[target]?.isEmbedded == true else {
                    targets.insert(target)
                    continue
                }
                if seen.insert(target).inserted { open.append(target) }
            }
        }
        return targets.sorted()
    }
}
