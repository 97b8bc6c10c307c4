import Changesets
import Permissions
import Query

@testable import ServerAccounts
@testable import ServerConfig
@testable import ServerStore

/// The app of most tests of flexible sync, and changes to it.
enum FlexibleShop {
    static let allUsers = [RoleDeclaration(name: "all", read: .all, write: .all)]

    static func app(
        _ roles: [RoleDeclaration] = allUsers,
        queryable fields: Set<Text> = ["title", "count"],
        isDevelopmentMode: Bool = true,
        allowsClientRecovery: Bool = true
    ) -> ServedAppConfiguration {
        ServedAppConfiguration(
            id: TestApps.shop,
            isDevelopmentMode: isDevelopmentMode,
            allowsClientRecovery: allowsClientRecovery,
            anonymous: true,
            flexible: FlexibleSyncConfiguration(
                queryableFields: QueryableFields(common: fields),
                roles: RoleDeclarations(standard: roles)
            )
        )
    }

    /// Gives the app another configuration, as a reload does.
    static func put(_ app: ServedAppConfiguration, in world: SyncWorld) {
        let directory = world.apps.accounts.apps
        guard var served = directory[TestApps.shop] else { return }
        served.configuration = app
        directory.put(served)
        world.apps.accounts.backplane.control(.app(TestApps.shop), .rebind)
    }

    static func enableSync(_ world: SyncWorld) async -> Int {
        await world.admin.call("PUT", "apps/shop-abcde/sync", #"{"state":"enabled"}"#).status
    }

    static func terminateSync(_ world: SyncWorld) async -> Int {
        await world.admin.call("POST", "apps/shop-abcde/sync/terminate?confirm=shop-abcde").status
    }
}
