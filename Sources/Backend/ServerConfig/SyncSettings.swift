import Changesets
import Permissions
import Query
import Scopes
import Settings

/// The section `sync` of an app.
struct SyncSettings {
    /// The value of `mode`, nil if it is left out.
    let modeNode: NodeReader?
    let partitionType: Partition.Kind?
    /// Nil in partition-based mode.
    let queryable: QueryableReading?
    let limits: FlexibleLimits

    enum SyncMode: String, CaseIterable {
        case partition
        case flexible
    }

    init(reading keys: MappingReader) {
        var modeNode: NodeReader?
        let mode = keys.optional("mode", default: .partition) { node -> SyncMode? in
            modeNode = node
            return node.choice()
        }
        self.modeNode = modeNode
        // The partition of an object is its server file: the name is informational.
        _ = keys.dependent("partition_key", on: "mode", being: [.partition], chosen: mode) {
            $0.string()
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

/// The limits on subscriptions and on filters of roles.
struct FlexibleLimits {
    var subscriptions = SubscriptionLimits()
    var filters = FilterLimits()

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
            nesting: count("nesting", subscriptions.nesting, upTo: 4_000)
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
    }
}
