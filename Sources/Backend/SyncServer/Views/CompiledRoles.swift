import Permissions
import Query
import Schemas
import Synchronization

/// The roles of an app, compiled once for each schema: that takes longer than a small upload.
final class CompiledRoles: Sendable {
    private let compile: @Sendable (RealmSchema, SubscriptionRules) -> AppRoles
    private let newest = Mutex<(schema: RealmSchema, roles: AppRoles)?>(nil)

    init(_ compile: @escaping @Sendable (RealmSchema, SubscriptionRules) -> AppRoles) {
        self.compile = compile
    }

    func compiled(for schema: RealmSchema, _ rules: () -> SubscriptionRules) -> AppRoles {
        if let known = newest.withLock({ $0 }), known.schema == schema { return known.roles }
        let roles = compile(schema, rules())
        newest.withLock { $0 = (schema, roles) }
        return roles
    }
}
