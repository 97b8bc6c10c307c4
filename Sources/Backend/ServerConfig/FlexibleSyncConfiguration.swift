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
    /// Nil: objects of asymmetric classes are only stored.
    package var sink: AsymmetricSinkConfiguration?

    package init(
        queryableFields: QueryableFields = QueryableFields(),
        indexedField: Text? = nil,
        roles: RoleDeclarations = RoleDeclarations(),
        subscriptionLimits: SubscriptionLimits = SubscriptionLimits(),
        filterLimits: FilterLimits = FilterLimits(),
        sink: AsymmetricSinkConfiguration? = nil
    ) {
        self.queryableFields = queryableFields
        self.indexedField = indexedField
        self.roles = roles
        self.subscriptionLimits = subscriptionLimits
        self.filterLimits = filterLimits
        self.sink = sink
    }

}
