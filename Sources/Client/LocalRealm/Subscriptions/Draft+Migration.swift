internal import Changesets
internal import ClientReset
internal import SQLite
internal import Schemas
internal import Scopes
internal import Subscriptions
internal import Versions

extension RealmMigration {
    /// Whether the owner that the configuration names may open the file: the one before the change.
    func allows(_ owner: RealmOwner, _ state: RealmStateRow) -> Bool {
        guard state.owner.scope == .subscriptions, let originalScope else { return false }
        return owner
            == RealmOwner(
                appID: state.owner.appID,
                userID: state.owner.userID,
                scope: originalScope
            )
    }

    /// The declarations of properties, with the partition's value for rows that programs insert without it.
    func options(
        _ declared: [PropertyName: PropertyOptions],
        on connection: Connection
    ) throws -> [PropertyName: PropertyOptions] {
        guard let value else { return declared }
        var options = declared
        let schema = try CatalogueStore(connection: connection).load(options: [:]).schema
        for owner in schema.classes where value.position(in: owner) != nil && !owner.isEmbedded {
            let name = PropertyName(className: owner.name, property: value.property)
            guard options[name]?.defaultValue == nil else { continue }
            options[name, default: PropertyOptions()].defaultValue = value.value
        }
        return options
    }

    /// Whether an answered MARK moves the change forward.
    func isUnsettled(_ sets: SubscriptionSets?) -> Bool {
        if state == .inProgress { return true }
        guard let sentinel, let sets else { return false }
        return sets.active.version >= sentinel
    }
}

/// A change of the kind of sync, in the current transaction.
extension Draft {
    /// Everything is downloaded: the change is complete, or the owner's own subscriptions have taken over.
    mutating func advanceMigration(on connection: Connection, now: Int64) throws {
        guard var changed = migration, let sets = subscriptions else { return }
        let row = MigrationRow(connection: connection)
        if let sentinel = changed.sentinel, sets.active.version >= sentinel,
            sets.active.state == .complete
        {
            try row.remove()
            migration = nil
            return
        }
        guard changed.state == .inProgress else { return }
        changed.state = .migrated
        changed.completedAt = now
        try row.write(changed)
        migration = changed
    }

    /// The realm becomes one of flexible sync, with a complete set of these subscriptions.
    mutating func switchToFlexible(
        _ record: RealmMigration,
        _ contents: [Subscription],
        on connection: Connection
    ) throws {
        try MigrationRow(connection: connection).write(record)
        migration = record
        state.owner = RealmOwner(
            appID: state.owner.appID,
            userID: state.owner.userID,
            scope: .subscriptions
        )
        try SubscriptionStore(connection: connection).removeAll()
        try loadSubscriptions(on: connection)
        let snapshot = state.localVersion
        try changeSubscriptions(on: connection) { sets in
            let version = sets.commit(contents, snapshotVersion: snapshot)
            try sets.completeBootstrap(version)
            sets.markAnswered()
        }
    }

    /// The realm holds its partition again.
    mutating func switchToPartition(on connection: Connection) throws {
        guard let scope = migration?.originalScope else { return }
        try MigrationRow(connection: connection).remove()
        migration = nil
        state.owner = RealmOwner(
            appID: state.owner.appID,
            userID: state.owner.userID,
            scope: scope
        )
        try SubscriptionStore(connection: connection).removeAll()
        subscriptions = nil
        let before = catalogue
        catalogue.subscribedClasses = nil
        try renewTriggers(changedFrom: before, on: connection)
    }

    /// Gives columns the defaults of the options.
    mutating func renewDefaults(
        _ options: [PropertyName: PropertyOptions],
        on connection: Connection
    ) throws {
        let store = CatalogueStore(connection: connection)
        var renewed = try store.load(options: options)
        renewed.subscribedClasses = catalogue.subscribedClasses
        renewed.isReadOnly = catalogue.isReadOnly
        catalogue = renewed
        var editor = SchemaEditor(connection, catalogue, options: options, published: 0)
        try editor.renewDefaults()
        try adopt(editor)
    }
}

extension SubscriptionStore {
    /// Deletes all sets.
    func removeAll() throws(SQLiteError) {
        try connection.execute("DELETE FROM _realm_subscription")
        try connection.execute("DELETE FROM _realm_subscription_set")
    }
}
