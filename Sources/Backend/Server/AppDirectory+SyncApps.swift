import Changesets
import Permissions
import Query
import ServerAccounts
import ServerConfig
package import ServerStore
package import SyncServer

/// Without programs.
extension AppDirectory: SyncApps {
    package func syncApp(_ id: AppID) -> SyncApp? {
        self[id].map { SyncApp($0) }
    }

    package var syncApps: [SyncApp] {
        all.map { SyncApp($0) }
    }
}

extension SyncApp {
    /// - Parameter report: gets the mistakes in the roles, each time that these are compiled.
    init(
        _ app: ServedApp,
        _ sinks: AppSinks? = nil,
        _ gates: AppGates? = nil,
        report: @escaping @Sendable ([RoleProblem]) -> Void = { _ in }
    ) {
        self.init(
            id: app.id,
            syncState: app.syncState,
            partitionType: app.configuration.partitionType,
            isDevelopmentMode: app.configuration.isDevelopmentMode,
            allowsCollectionsInMixed: !app.configuration.isSDKSafe,
            allowsClientRecovery: app.configuration.allowsClientRecovery,
            // Where its program cannot be asked, it admits no user.
            access: app.configuration.accessProgram == nil
                ? app.configuration.access : AccessRules(.nothing),
            gate: gates?.gate(of: app),
            quotas: app.configuration.quotas,
            offlineLimitInMilliseconds: app.configuration.offlineLimitInMilliseconds,
            schema: app.schema,
            flexible: app.configuration.flexible.map {
                FlexibleSettings($0, of: app, sinks?.sink(of: app), report)
            },
            partitionKey: app.configuration.partitionKey.map { Text($0) },
            ruleData: app.ruleData
        )
    }
}

extension FlexibleSettings {
    fileprivate init(
        _ configuration: FlexibleSyncConfiguration,
        of app: ServedApp,
        _ sink: (any ObjectSink)?,
        _ report: @escaping @Sendable ([RoleProblem]) -> Void
    ) {
        self.init(
            roles: { schema, rules in
                let roles = AppRoles(
                    configuration.roles,
                    schema,
                    rules,
                    limits: configuration.filterLimits
                )
                report(roles.problems)
                return roles
            },
            // Fields that clients use in development become queryable.
            isQueryable: { [isOpen = app.configuration.isDevelopmentMode] in
                isOpen || configuration.queryableFields.contains($1, of: $0)
            },
            indexedField: configuration.indexedField,
            subscriptions: configuration.subscriptionLimits,
            views: ViewLimits(configuration.viewLimits),
            sink: sink,
            customUserData: app.customUserDataPlace.map { place in
                CustomUserDataSource(
                    className: place.className,
                    userIDField: place.userIDField
                ) { user, _, snapshot throws(StoreError) in
                    try app.customData(of: user, snapshot)
                }
            }
        )
    }
}

extension ViewLimits {
    fileprivate init(_ limits: ViewSizeLimits) {
        self.init(
            touchedSizeInBytes: limits.changes,
            rangeSizeInBytes: limits.history,
            messageSizeInBytes: limits.message,
            changesetSizeInBytes: limits.changeset
        )
    }
}
