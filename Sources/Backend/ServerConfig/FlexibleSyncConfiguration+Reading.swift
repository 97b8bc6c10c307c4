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
    ///   - schema: nil if the app has no schema file, or its files are not read.
    ///   - acceptsNewClasses: whether clients may add classes and properties.
    init?(
        _ sync: SyncSettings,
        _ rules: RolesReading,
        _ keys: MappingReader,
        _ schema: RealmSchema?,
        acceptsNewClasses: Bool
    ) {
        guard let queryable = sync.queryable else {
            keys.refuse("rules", beside: .partition, remedy: "use access, or sync.mode: flexible")
            return nil
        }
        keys.refuse("access", beside: .flexible, remedy: "use rules")
        self.init(
            queryableFields: queryable.value,
            indexedField: queryable.indexedField?.name,
            roles: rules.declarations,
            subscriptionLimits: sync.limits.subscriptions,
            filterLimits: sync.limits.filters
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

    /// Refuses an app that was declared on the admin socket.
    func refuseUntilServed(in id: AppID) throws(BadDeclaration) {
        guard !Self.isServed else { return }
        throw BadDeclaration(
            diagnostics: [
                Diagnostic(
                    at: TextLocation(file: id.rawValue, line: 1, column: 1),
                    .unsupported,
                    SettingPath.root.appending("sync").appending("mode"),
                    Self.notServed,
                    remedy: "use partition"
                )
            ]
        )
    }

    fileprivate static let notServed = "flexible sync is not served yet by this version"
}

extension SyncSettings {
    /// Reports that this version does not serve the app. Without this, the server would open all of
    /// its data by partitions.
    func refuseUntilServed() {
        guard !FlexibleSyncConfiguration.isServed else { return }
        modeNode?.report(
            .unsupported,
            FlexibleSyncConfiguration.notServed,
            remedy: "use partition, or remove the app"
        )
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
