package import Changesets
package import Schemas

/// The fields that subscriptions and roles may use (flexible sync, 12.7). The primary key always is
/// one.
package struct QueryableFields: Hashable, Sendable {
    /// For classes that `classes` does not name; each has those of them that it has.
    package var common: Set<Text>
    package var classes: [Text: Set<Text>]

    package init(common: Set<Text> = [], classes: [Text: Set<Text>] = [:]) {
        self.common = common
        self.classes = classes
    }

    /// - Parameter field: not the primary key.
    package func contains(_ field: Text, of className: Text) -> Bool {
        (classes[className] ?? common).contains(field)
    }

    /// The rules for queries with these fields.
    package func rules(
        _ schema: RealmSchema,
        limits: SubscriptionLimits = SubscriptionLimits()
    ) -> SubscriptionRules {
        SubscriptionRules(schema: schema, limits: limits) { contains($1, of: $0) }
    }
}

extension RealmSchema {
    /// The reason why a property cannot be queryable: a clause; nil if it can.
    package func obstacleToQueries(on property: PropertySchema) -> String? {
        guard property.collection != .dictionary else { return "is a dictionary" }
        guard case .link(let target) = property.type else { return nil }
        return self[target]?.isEmbedded == true ? "holds embedded objects" : "is a link"
    }
}
