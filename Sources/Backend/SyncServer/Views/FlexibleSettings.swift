package import Changesets
package import Permissions
package import Query
package import Schemas
import ServerStore

/// The settings of an app with flexible sync.
package struct FlexibleSettings: Sendable {
    /// The roles, for a schema and the rules of its subscriptions; a schema may grow.
    package var roles: @Sendable (RealmSchema, SubscriptionRules) -> AppRoles
    /// Whether the configuration lists a property as queryable; the primary key always is.
    package var isQueryable: @Sendable (_ className: Text, _ property: Text) -> Bool
    package var indexedField: Text?
    package var subscriptions: SubscriptionLimits
    package var views: ViewLimits

    package init(
        roles: @escaping @Sendable (RealmSchema, SubscriptionRules) -> AppRoles,
        isQueryable: @escaping @Sendable (Text, Text) -> Bool = { _, _ in true },
        indexedField: Text? = nil,
        subscriptions: SubscriptionLimits = SubscriptionLimits(),
        views: ViewLimits = ViewLimits()
    ) {
        self.roles = roles
        self.isQueryable = isQueryable
        self.indexedField = indexedField
        self.subscriptions = subscriptions
        self.views = views
    }

    /// The part of the query language that subscriptions of a schema may use.
    func rules(_ schema: RealmSchema) -> SubscriptionRules {
        SubscriptionRules(schema: schema, limits: subscriptions) { [isQueryable] name, property in
            guard let owner = schema[name], let known = owner.property(named: property) else {
                return false
            }
            return schema.obstacleToQueries(on: known) == nil && isQueryable(name, property)
        }
    }

    /// The rights of a user to the objects of a schema.
    func rights(of user: User, _ schema: RealmSchema) -> UserRights {
        roles(schema, rules(schema)).rights(
            of: UserValues(
                id: user.id.rawValue,
                type: user.kind.rawValue,
                data: user.profileData
            )
        )
    }

    /// The view of a user with these subscriptions.
    func view(
        _ body: SubscriptionSetBody,
        of rights: UserRights,
        _ schema: RealmSchema,
        acceptsUnknownClasses: Bool
    ) throws(SubscriptionSetError) -> ClientView {
        let checked = try rules(schema).check(
            body,
            indexedField: indexedField.map { IndexedFieldRule(field: $0) },
            acceptsUnknownClasses: acceptsUnknownClasses
        )
        return ClientView(checked.queries, rights)
    }
}

/// The limits on the work for one client's view; bytes.
package struct ViewLimits: Hashable, Sendable {
    /// Images of touched objects in memory for one range; a client that needs more starts over.
    package var touchedSizeInBytes: Int
    /// History that is sent as a unit; a client that needs more starts over.
    package var rangeSizeInBytes: Int
    /// Uncompressed changesets of one message of a bootstrap.
    package var messageSizeInBytes: Int
    /// A changeset of a bootstrap ends behind the object that exceeds this.
    package var changesetSizeInBytes: Int

    package init(
        touchedSizeInBytes: Int = 64 << 20,
        rangeSizeInBytes: Int = 16 << 20,
        messageSizeInBytes: Int = 4 << 20,
        changesetSizeInBytes: Int = 512 << 10
    ) {
        self.touchedSizeInBytes = touchedSizeInBytes
        self.rangeSizeInBytes = rangeSizeInBytes
        self.messageSizeInBytes = messageSizeInBytes
        self.changesetSizeInBytes = changesetSizeInBytes
    }
}

/// The work for a client's view would exceed a limit: a fresh copy costs less.
struct ViewTooLarge: Error {}
