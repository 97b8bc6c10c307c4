internal import Changesets
internal import Schemas
internal import Scopes
package import Subscriptions
internal import Versions

/// Follows a change to flexible sync while the realm is in use (flexible sync, 16.1).
extension RealmFile {
    /// Subscribes to the partition's objects of classes that have no subscription, and have its property.
    /// Once the configuration declares subscriptions, hands the sets over to it instead.
    ///
    /// - Returns: whether there is a new set.
    package func followMigration(
        using random: inout some RandomNumberGenerator
    ) throws(LocalRealmError) -> Bool {
        guard let migration = committed.migration, let sets = committed.subscriptions else {
            return false
        }
        return try mappingErrors {
            guard configuration.owner.scope != .subscriptions else {
                return try commitSentinel(using: &random)
            }
            let subscribed = sets.latest.classNames
            let contents = migration.subscriptions(in: committed.catalogue.schema)
                .filter { !subscribed.contains($0.className) }
            guard !contents.isEmpty else { return false }
            _ = try updateSubscriptions(
                contents.map { .put($0) },
                isChecked: false,
                using: &random
            )
            options = try migration.options(configuration.options, on: connection)
            try write(.normal) { try $0.renewDefaults(options, on: connection) }
            statements.removeAll()
            return true
        }
    }

    /// The subscriptions that a change to flexible sync makes for the classes of the file.
    package func partitionSubscriptions(
        _ record: RealmMigration
    ) throws(LocalRealmError) -> [SubscriptionContent] {
        try mappingErrors { record.subscriptions(in: committed.catalogue.schema) }
    }

    /// Commits a copy of the latest set. Once it is complete, everything that was written before is uploaded,
    /// and the record of the change is removed.
    private func commitSentinel(using random: inout some RandomNumberGenerator) throws -> Bool {
        guard var migration = committed.migration, migration.sentinel == nil else { return false }
        let update = try updateSubscriptions([], isForced: true, isChecked: false, using: &random)
        migration.sentinel = update.set.version
        try write(.full) { draft in
            try MigrationRow(connection: connection).write(migration)
            draft.migration = migration
        }
        return true
    }
}
