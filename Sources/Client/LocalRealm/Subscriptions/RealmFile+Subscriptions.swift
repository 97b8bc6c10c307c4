internal import Changesets
internal import SQLite
internal import Schemas
package import Subscriptions
package import Versions

/// The result of a change to the subscriptions of a realm.
package struct SubscriptionUpdate: Sendable {
    /// The latest set.
    package let set: SubscriptionSet
    /// Whether the change made it; false if the latest set had the same content already.
    package let isNew: Bool
    /// For each operation, how many subscriptions it concerned.
    package let counts: [Int]
    /// The local writes that were drained first.
    package let drained: CaptureReport
}

/// Reading and changing the subscription sets of a realm (flexible sync, 3 and 4).
extension RealmFile {
    /// Commits a new subscription set, unless it would have the content of the latest one; durable when the
    /// call returns.
    ///
    /// Local writes before the call are uploaded before the set's QUERY, later ones after it.
    ///
    /// - Parameters:
    ///   - isForced: commit also an unchanged set, which makes the server send its view again.
    ///   - isChecked: refuse queries that no server accepts.
    /// - Throws: a `SubscriptionError`, or a `LocalRealmError` of the file.
    package func updateSubscriptions(
        _ operations: [SubscriptionOperation],
        isForced: Bool = false,
        isChecked: Bool = true,
        using random: inout some RandomNumberGenerator
    ) throws -> SubscriptionUpdate {
        guard committed.subscriptions != nil else {
            throw SubscriptionError(.notFlexible, "a realm without flexible sync")
        }
        let schema = committed.catalogue.schema
        let now = clock()
        do {
            return try write(.full) { draft in
                let drained = try drain(&draft)
                let latest = draft.subscriptions?.latest
                var edit = SubscriptionEdit(of: latest?.subscriptions ?? [], now: now)
                var counts: [Int] = []
                for operation in operations {
                    let canonical =
                        isChecked
                        ? try operation.canonical(in: schema, edit.subscriptions) : operation
                    counts.append(try edit.apply(canonical, using: &random))
                }
                if let latest, !isForced, latest.hasSameContent(as: edit.subscriptions) {
                    return SubscriptionUpdate(
                        set: latest,
                        isNew: false,
                        counts: counts,
                        drained: drained
                    )
                }
                let set = try commit(edit.subscriptions, &draft)
                return SubscriptionUpdate(set: set, isNew: true, counts: counts, drained: drained)
            }
        } catch let error as SubscriptionError {
            throw error
        } catch {
            return try mappingErrors { throw error }
        }
    }

    private func commit(
        _ subscriptions: [Subscription],
        _ draft: inout Draft
    ) throws -> SubscriptionSet {
        let snapshot = draft.state.localVersion
        // The set takes part in the order of commits, as an empty version.
        _ = draft.state.advanceVersion()
        try draft.changeSubscriptions(on: connection) { sets in
            _ = sets.commit(subscriptions, snapshotVersion: snapshot)
        }
        guard let set = draft.subscriptions?.latest else {
            preconditionFailure("a realm with subscriptions has a latest set")
        }
        return set
    }

    /// The server rejects a set; the realm keeps the view of the active one (flexible sync, 4).
    package func failSubscriptions(
        _ version: QueryVersion,
        _ text: String
    ) throws(LocalRealmError) {
        try mappingErrors {
            try write(.normal) { draft in
                try draft.changeSubscriptions(on: connection) { sets in
                    try sets.fail(version, text)
                }
            }
        }
    }
}

extension Draft {
    /// Changes the sets and their tables in the current transaction; and the triggers that deny inserts into
    /// classes without subscription (flexible sync, 10).
    mutating func changeSubscriptions(
        on connection: Connection,
        _ change: (inout SubscriptionSets) throws -> Void
    ) throws {
        guard let earlier = subscriptions else { return }
        var sets = earlier
        try change(&sets)
        guard sets != earlier else { return }
        try SubscriptionStore(connection: connection).save(sets, replacing: earlier)
        subscriptions = sets
        let classNames = sets.latest.classNames
        guard catalogue.subscribedClasses != classNames else { return }
        let before = catalogue
        catalogue.subscribedClasses = classNames
        try renewTriggers(changedFrom: before, on: connection)
    }

    /// Recreates the triggers of the classes that programs may insert into now, or may not any more.
    mutating func renewTriggers(
        changedFrom before: Catalogue,
        on connection: Connection
    ) throws {
        let editor = SchemaEditor(connection, catalogue, options: [:], published: 0)
        for table in catalogue.tables
        where before.deniesInserts(into: table) != catalogue.deniesInserts(into: table) {
            try editor.renewParts(of: table)
        }
        schemaVersion = try connection.integer("PRAGMA schema_version")
    }
}

extension Draft {
    /// Reads the sets of the file; a new one gets the empty version 0.
    mutating func loadSubscriptions(on connection: Connection) throws {
        let store = SubscriptionStore(connection: connection)
        var sets = try store.load()
        if sets == nil {
            let first = SubscriptionSets(snapshotVersion: state.localVersion)
            try store.save(first, replacing: nil)
            sets = first
        }
        subscriptions = sets
        catalogue.subscribedClasses = sets?.latest.classNames
    }
}
