package import Changesets
package import Permissions
package import Query

/// The settings of an app whose clients sync by queries (flexible sync).
package struct FlexibleSyncConfiguration: Hashable, Sendable {
    package var queryableFields: QueryableFields
    /// The field that every subscription of a class with it must pin; nil: none.
    package var indexedField: Text?
    package var roles: RoleDeclarations
    package var subscriptionLimits: SubscriptionLimits
    package var filterLimits: FilterLimits
    package var viewLimits: ViewSizeLimits
    /// Nil: objects of asymmetric classes are only stored.
    package var sink: AsymmetricSinkConfiguration?

    package init(
        queryableFields: QueryableFields = QueryableFields(),
        indexedField: Text? = nil,
        roles: RoleDeclarations = RoleDeclarations(),
        subscriptionLimits: SubscriptionLimits = SubscriptionLimits(),
        filterLimits: FilterLimits = FilterLimits(),
        viewLimits: ViewSizeLimits = ViewSizeLimits(),
        sink: AsymmetricSinkConfiguration? = nil
    ) {
        self.queryableFields = queryableFields
        self.indexedField = indexedField
        self.roles = roles
        self.subscriptionLimits = subscriptionLimits
        self.filterLimits = filterLimits
        self.viewLimits = viewLimits
        self.sink = sink
    }
}

/// The limits on the work for one client's view; bytes.
package struct ViewSizeLimits: Hashable, Sendable {
    /// Values before and after changes that are compared at once.
    package var changes = 64 << 20
    /// History that is sent as a unit.
    package var history = 16 << 20
    /// One message of a bootstrap.
    package var message = 4 << 20
    /// One changeset of a bootstrap.
    package var changeset = 512 << 10

    package init() {}
}
