import Permissions
import Query
import Schemas
import ServerStore
import Settings
import YAML

extension FlexibleSyncConfiguration {
    /// Nil for an app in partition-based mode. Reports settings of the other mode.
    ///
    /// - Parameters:
    ///   - keys: those of the app.
    ///   - sink: that of the app, nil if it has none.
    ///   - schema: nil if the app has no schema file, or its files are not read.
    ///   - acceptsNewClasses: whether clients may add classes and properties.
    init?(
        _ sync: SyncSettings,
        _ rules: RolesReading,
        _ sink: AsymmetricSinkConfiguration?,
        _ keys: MappingReader,
        _ schema: RealmSchema?,
        acceptsNewClasses: Bool
    ) {
        guard let queryable = sync.queryable else {
            keys.refuse("rules", beside: .partition, remedy: "use access, or sync.mode: flexible")
            keys.refuse("asymmetric", beside: .partition, remedy: "remove it")
            return nil
        }
        keys.refuse("access", beside: .flexible, remedy: "use rules")
        self.init(
            queryableFields: queryable.value,
            indexedField: queryable.indexedField?.name,
            roles: rules.declarations,
            subscriptionLimits: sync.limits.subscriptions,
            filterLimits: sync.limits.filters,
            viewLimits: sync.limits.views,
            sink: sink
        )
        if rules.isEmpty {
            keys.whole.report(
                .missingKey,
                severity: .warning,
                "has no rules, so that its users have access to nothing",
                remedy: "add rules, such as { default: { read: true, write: true } }"
            )
        }
        queryable.check()
        queryable.check(partitionKey: sync.partitionKey)
        guard let schema else {
            rules.check(filterLimits)
            return
        }
        queryable.check(schema, isComplete: !acceptsNewClasses)
        rules.check(
            schema,
            queryableFields.rules(schema),
            filterLimits,
            isComplete: !acceptsNewClasses
        )
    }
}

extension MappingReader {
    func refuse(
        _ key: String,
        beside mode: SyncSettings.SyncMode,
        remedy: String
    ) {
        guard contains(key) else { return }
        report(key, .conflict, "does not go with sync.mode \"\(mode.rawValue)\"", remedy: remedy)
    }
}
