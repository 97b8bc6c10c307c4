import Changesets
import Permissions
import Query
import ServerAccounts
import ServerConfig
package import ServerStore
package import SyncServer

extension AppDirectory: SyncApps {
    package func syncApp(_ id: AppID) -> SyncApp? {
        self[id].map(SyncApp.init)
    }

    package var syncApps: [SyncApp] {
        all.map(SyncApp.init)
    }
}

extension SyncApp {
    fileprivate init(_ app: ServedApp) {
        self.init(
            id: app.id,
            syncState: app.syncState,
            partitionType: app.configuration.partitionType,
            isDevelopmentMode: app.configuration.isDevelopmentMode,
            allowsClientRecovery: app.configuration.allowsClientRecovery,
            access: app.configuration.access,
            quotas: app.configuration.quotas,
            offlineLimitInMilliseconds: app.configuration.offlineLimitInMilliseconds,
            schema: app.schema,
            flexible: app.configuration.flexible.map { FlexibleSettings($0) },
            ruleData: app.ruleData
        )
    }
}

extension FlexibleSettings {
    fileprivate init(_ configuration: FlexibleSyncConfiguration) {
        self.init(
            roles: { schema, rules in
                AppRoles(configuration.roles, schema, rules, limits: configuration.filterLimits)
            },
            isQueryable: { configuration.queryableFields.contains($1, of: $0) },
            indexedField: configuration.indexedField,
            subscriptions: configuration.subscriptionLimits
        )
    }
}
