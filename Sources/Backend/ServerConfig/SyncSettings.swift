import Changesets
import Permissions
import Query
import Scopes
import Settings

/// The section `sync` of an app.
struct SyncSettings {
    /// The property that has the value of the partition in each object, and its position.
    let partitionKey: (name: String, node: NodeReader)?
    let partitionType: Partition.Kind?
    /// Nil in partition-based mode.
    let queryable: QueryableReading?
    let limits: FlexibleLimits

    enum SyncMode: String, CaseIterable {
        case partition
        case flexible
    }

    init(reading keys: MappingReader) {
        let mode = keys.optional("mode", default: SyncMode.partition) { $0.choice() }
        // A partition is a server file. The property counts when the app switches its mode.
        self.partitionKey = keys.optional("partition_key") { node in
            node.string().map { (name: $0, node: node) }
        }
        self.partitionType = keys.dependent(
            "partition_type",
            on: "mode",
            being: [SyncMode.partition],
            chosen: mode
        ) { $0.choice() }
        let fields = keys.dependent(
            "queryable_fields",
            on: "mode",
            being: [SyncMode.flexible],
            chosen: mode
        ) { $0.queryableFields() }
        let indexedField = keys.dependent(
            "indexed_field",
            on: "mode",
            being: [SyncMode.flexible],
            chosen: mode
        ) { node in node.string().map { (name: Text($0), node: node) } }
        self.queryable =
            mode == .flexible
            ? QueryableReading(fields: fields ?? [], indexedField: indexedField) : nil
        self.limits =
            keys.dependent("limits", on: "mode", being: [SyncMode.flexible], chosen: mode) {
                $0.mapping { FlexibleLimits(reading: $0) }
            } ?? FlexibleLimits()
    }
}

/// The limits on subscriptions, on filters of roles, and on the work for one client's view.
struct FlexibleLimits {
    var subscriptions = SubscriptionLimits()
    var filters = FilterLimits()
    var views = ViewSizeLimits()

    init() {}

    init(reading keys: MappingReader) {
        func count(_ key: String, _ standard: Int, upTo limit: Int) -> Int {
            keys.optional(key, default: standard) { $0.integer(in: 1...limit) }
        }
        let (subscriptions, filters) = (SubscriptionLimits(), FilterLimits())
        self.subscriptions = SubscriptionLimits(
            bodySizeInBytes: keys.optional("body", default: subscriptions.bodySizeInBytes) {
                $0.size(in: (1 << 10)...(16 << 20))
            },
            querySizeInBytes: keys.optional("query", default: subscriptions.querySizeInBytes) {
                $0.size(in: 64...(16 << 20))
            },
            classes: count("classes", subscriptions.classes, upTo: 100_000),
            queriesPerClass: count(
                "queries_per_class",
                subscriptions.queriesPerClass,
                upTo: 100_000
            ),
            nesting: count("nesting", subscriptions.nesting, upTo: 4_000),
            comparisons: count("comparisons", subscriptions.comparisons, upTo: 1_000_000)
        )
        self.filters = FilterLimits(
            sizeInBytes: keys.optional("filter", default: filters.sizeInBytes) {
                $0.size(in: 64...(1 << 20))
            },
            nesting: min(filters.nesting, self.subscriptions.nesting),
            listElements: count("user_list", filters.listElements, upTo: 100_000),
            textSizeInBytes: keys.optional("user_text", default: filters.textSizeInBytes) {
                $0.size(in: 16...(64 << 10))
            }
        )
        views.changes = keys.optional("view_changes", default: views.changes) {
            $0.size(in: (1 << 20)...(4 << 30))
        }
        views.history = keys.optional("view_history", default: views.history) {
            $0.size(in: (1 << 20)...(1 << 30))
        }
        // A client refuses larger messages.
        views.message = keys.optional("bootstrap_message", default: views.message) {
            $0.size(in: (64 << 10)...(16 << 20))
        }
        // A client applies a changeset whole.
        views.changeset = keys.optional("bootstrap_changeset", default: views.changeset) {
            $0.size(in: (16 << 10)...(1 << 20))
        }
    }
}
