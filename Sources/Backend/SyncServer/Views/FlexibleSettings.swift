package import Changesets
package import JSON
package import Permissions
package import Query
package import Schemas
package import ServerStore

/// The settings of an app with flexible sync.
package struct FlexibleSettings: Sendable {
    private let roles: CompiledRoles
    /// Whether the configuration lists a property as queryable; the primary key always is.
    private let listsAsQueryable: @Sendable (_ className: Text, _ property: Text) -> Bool
    private let indexedField: Text?
    package let subscriptions: SubscriptionLimits
    package let views: ViewLimits
    /// Gets the objects of asymmetric classes; nil: the store keeps them.
    package let sink: (any ObjectSink)?
    /// Nil: rules with a user's custom data deny.
    let customUserData: CustomUserDataSource?

    /// - Parameter roles: for a schema, which may grow, and the rules of its subscriptions.
    package init(
        roles: @escaping @Sendable (RealmSchema, SubscriptionRules) -> AppRoles,
        isQueryable: @escaping @Sendable (Text, Text) -> Bool = { _, _ in true },
        indexedField: Text? = nil,
        subscriptions: SubscriptionLimits = SubscriptionLimits(),
        views: ViewLimits = ViewLimits(),
        sink: (any ObjectSink)? = nil,
        customUserData: CustomUserDataSource? = nil
    ) {
        self.roles = CompiledRoles(roles)
        self.listsAsQueryable = isQueryable
        self.indexedField = indexedField
        self.subscriptions = subscriptions
        self.views = views
        self.sink = sink
        self.customUserData = customUserData
    }

    /// Whether both have the same compiled roles, for tests.
    package func sharesRoles(with other: FlexibleSettings) -> Bool { roles === other.roles }

    func isQueryable(
        _ property: PropertySchema,
        of owner: ClassSchema,
        in schema: RealmSchema
    ) -> Bool {
        schema.obstacleToQueries(on: property) == nil
            && listsAsQueryable(owner.name, property.name)
    }

    /// Whether images of objects have a property: if it is queryable, or tells the user whose custom
    /// data an object has.
    func isRecorded(
        _ property: PropertySchema,
        of owner: ClassSchema,
        in schema: RealmSchema
    ) -> Bool {
        isQueryable(property, of: owner, in: schema)
            || customUserData?.className == owner.name
                && customUserData?.userIDField == property.name
    }

    /// The part of the query language that subscriptions of a schema may use.
    func rules(_ schema: RealmSchema) -> SubscriptionRules {
        SubscriptionRules(schema: schema, limits: subscriptions) { name, property in
            guard let owner = schema[name], let known = owner.property(named: property) else {
                return false
            }
            return isQueryable(known, of: owner, in: schema)
        }
    }

    /// The rights of a user to the objects of a schema.
    func rights(
        of user: User,
        in app: AppID,
        _ schema: RealmSchema,
        _ store: any FileReading
    ) throws(StoreError) -> UserRights {
        let roles = roles.compiled(for: schema) { rules(schema) }
        let customData =
            roles.usesCustomData ? try customUserData?.read(user.id, app, store) : nil
        return roles.rights(
            of: UserValues(
                id: user.id.rawValue,
                type: user.kind.rawValue,
                data: user.profileData,
                customData: customData
            )
        )
    }

    /// Whether the rights of users depend on their custom data.
    func usesCustomData(_ schema: RealmSchema) -> Bool {
        customUserData != nil && roles.compiled(for: schema) { rules(schema) }.usesCustomData
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
        return ClientView(checked.queries, rights, schema)
    }
}

/// The place of the users' own objects in the file of an app.
package struct CustomUserDataSource: Sendable {
    package let className: Text
    package let userIDField: Text
    /// The object of a user as canonical Extended JSON; nil if there is none.
    package let read: @Sendable (UserID, AppID, any FileReading) throws(StoreError) -> JSONValue?

    package init(
        className: Text,
        userIDField: Text,
        read:
            @escaping @Sendable (UserID, AppID, any FileReading) throws(StoreError) -> JSONValue?
    ) {
        self.className = className
        self.userIDField = userIDField
        self.read = read
    }
}
