package import Changesets
package import ClientReset
package import Schemas
package import Scopes
package import Subscriptions
package import Versions

/// The record of a realm of one partition whose app has changed to flexible sync: the file keeps its place
/// and its owner's configuration, and syncs by subscriptions (flexible sync, 16.1).
package struct RealmMigration: Hashable, Sendable {
    package var state: State
    /// Selects the partition's objects, such as `_partition == "store-42"`.
    package let query: Text
    /// The partition before the change, in canonical Extended JSON.
    package let partition: Text
    /// Milliseconds since 1970.
    package let startedAt: Int64
    /// When the realm had first synced in the new mode.
    package var completedAt: Int64?
    /// The set after which the owner, who has declared subscriptions since, takes over.
    package var sentinel: QueryVersion?

    package enum State: Int64, Hashable, Sendable {
        case inProgress = 1
        case migrated = 2
    }

    package init(query: Text, partition: Partition, startedAt: Int64) {
        self.init(
            state: .inProgress,
            query: query,
            partition: Text(partition.canonicalText),
            startedAt: startedAt,
            completedAt: nil,
            sentinel: nil
        )
    }

    init(
        state: State,
        query: Text,
        partition: Text,
        startedAt: Int64,
        completedAt: Int64?,
        sentinel: QueryVersion?
    ) {
        self.state = state
        self.query = query
        self.partition = partition
        self.startedAt = startedAt
        self.completedAt = completedAt
        self.sentinel = sentinel
    }

    /// A subscription to the partition's objects for each top-level class. Classes without the property have
    /// none: the server would refuse the whole set.
    package func subscriptions(in schema: RealmSchema) -> [SubscriptionContent] {
        schema.classes.filter { !$0.isEmbedded && !$0.isAsymmetric }.compactMap { owner in
            let content = SubscriptionContent(
                name: Text("flx_migrated_\(owner.name)"),
                className: owner.name,
                query: query
            )
            return try? content.canonical(in: schema)
        }
    }

    /// The scope before the change; nil if the record is damaged.
    package var originalScope: SyncScope? {
        Partition(stored: partition.bytes).map { .partition($0) }
    }

    /// The property and value of the partition's objects; nil if the query does not name them plainly.
    package var value: PartitionValue? {
        guard let end = query.description.firstIndex(of: " ") else { return nil }
        let property = Text(query.description[..<end].description)
        let scalar: Scalar
        switch Partition(stored: partition.bytes) {
        case .string(let text)?: scalar = .string(text)
        case .int(let number)?: scalar = .int(number)
        case .objectID(let id)?: scalar = .objectID(id)
        case .uuid(let id)?: scalar = .uuid(id)
        case .null?, nil: return nil
        }
        return PartitionValue(property: property, value: scalar)
    }
}

/// A change of a realm's kind of sync, which the server has ordered.
package enum ModeSwitch: Hashable, Sendable {
    /// The app uses flexible sync; the record of the change.
    case toFlexible(RealmMigration)
    /// The app uses partitions again.
    case toPartition
}
