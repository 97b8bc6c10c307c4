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
        if sink != nil {
            keys.report(
                "asymmetric",
                .unsupported,
                "is not run yet by this version, which only stores the objects",
                remedy: "remove it"
            )
        }
        self.init(
            queryableFields: queryable.value,
            indexedField: queryable.indexedField?.name,
            roles: rules.declarations,
            subscriptionLimits: sync.limits.subscriptions,
            filterLimits: sync.limits.filters,
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

extension RoleDeclarations {
    /// Reports roles that this version does not serve as written. Documents are sent whole or not at all:
    /// a role that may not read some field sees no object.
    func reportHiddenFields(to keys: MappingReader) {
        let roles = classes.sorted { $0.key < $1.key }.flatMap(\.value) + standard
        for role in roles where role.hidesFields {
            keys.whole.report(
                .unsupported,
                severity: .warning,
                "role \"\(role.name)\" hides fields, which is not served yet by this version: its "
                    + "users see no object of its classes",
                remedy: "let it read all fields"
            )
        }
    }
}

extension RoleDeclaration {
    fileprivate var hidesFields: Bool {
        guard !fields.isEmpty || additionalFields != nil else { return false }
        return additionalFields?.read != true || fields.values.contains { !$0.read }
    }
}

extension MappingReader {
    fileprivate func refuse(
        _ key: String,
        beside mode: SyncSettings.SyncMode,
        remedy: String
    ) {
        guard contains(key) else { return }
        report(key, .conflict, "does not go with sync.mode \"\(mode.rawValue)\"", remedy: remedy)
    }
}
