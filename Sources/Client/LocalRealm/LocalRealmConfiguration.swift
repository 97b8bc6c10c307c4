internal import Changesets
package import Schemas
package import Scopes

/// The settings needed to open a local realm.
package struct LocalRealmConfiguration: Sendable {
    /// The SQLite file; `-wal`, `-shm` and `.lock` are beside it.
    package var path: String
    package var owner: RealmOwner
    /// Names this machine, to tell the realm from a copy of it made elsewhere.
    package var machineID: String
    /// The declared classes; nil if they are learned from the server.
    package var schema: RealmSchema?
    /// Declarations about single properties beyond their type.
    package var options: [PropertyName: PropertyOptions]
    /// Two captured writes further apart than this belong to different changesets (local realm, 4.2).
    package var splitGap: Duration
    /// The longest wait of a write for another program's transaction.
    package var busyTimeout: Duration
    /// Log rows that a drain holds in memory at once; a longer log is drained piece by piece.
    package var drainLimitInRows = 100_000
    /// The logs that are drained in two steps, so that programs can write meanwhile. A shorter one is drained as fast
    /// in one, and a longer one is not held in memory.
    package var preparedRows = 200...50_000
    /// The size at which a drain cuts its changesets, between statements of programs. A changeset is in memory
    /// as a whole on every replica, and takes many times its size there.
    package var changesetSizeInBytes = 512 << 10
    /// Whether a drain sends plain values of new objects straight from their rows; tests compare both ways.
    package var drainsDirectly = true
    /// Pairs of instructions merged in one transaction, at 40 million per second: meanwhile,
    /// programs cannot write.
    package var mergeLimitInPairs = 12_000_000
    /// Changesets of a bootstrap that are in memory at once; the whole is one transaction.
    package var bootstrapBatchInBytes = 1 << 20
    /// Whether programs may only read the realm on this machine.
    package var isReadOnly = false
    /// Properties of learned classes that are counters, if they are single integers.
    package var learnedCounters: Set<PropertyName> = []
    /// Whether programs may set no link to an object that does not exist.
    package var requiresLinkTargets = false
    /// Triggers of applications that also run on changes of the server.
    package var remoteTriggers: [String] = []
    /// The SQLite file layer; tests name one that can be told to fail.
    package var vfs: String?

    package init(
        path: String,
        owner: RealmOwner,
        machineID: String,
        schema: RealmSchema? = nil,
        options: [PropertyName: PropertyOptions] = [:],
        splitGap: Duration = .seconds(10),
        busyTimeout: Duration = .seconds(5),
        vfs: String? = nil
    ) {
        self.path = path
        self.owner = owner
        self.machineID = machineID
        self.schema = schema
        self.options = options
        self.splitGap = splitGap
        self.busyTimeout = busyTimeout
        self.vfs = vfs
    }
}

extension LocalRealmConfiguration {
    /// The properties whose changes are sent as increments.
    var counters: Set<PropertyName> {
        Set(options.filter(\.value.isCounter).keys).union(learnedCounters)
    }

    /// The same without names of learned classes that are not single integers.
    func counters(in schema: RealmSchema) -> Set<PropertyName> {
        counters.filter { name in
            let property = schema[name.className]?.property(named: name.property)
            return property?.type == .int && property?.collection == .single
        }
    }

    var drainLimits: CaptureLog.Limits {
        CaptureLog.Limits(rows: drainLimitInRows, groupInBytes: changesetSizeInBytes)
    }
}

/// The owner of the realm: a file of another owner is refused (interfaces, 2).
package struct RealmOwner: Hashable, Sendable {
    package let appID: String
    package let userID: String
    package let scope: SyncScope

    package init(appID: String, userID: String, scope: SyncScope) {
        self.appID = appID
        self.userID = userID
        self.scope = scope
    }
}

extension RealmOwner: CustomStringConvertible {
    package var description: String {
        let part =
            switch scope {
            case .partition(let value): "partition \(value.canonicalText)"
            case .subscriptions: "flexible sync"
            case .unsynced: ""
            }
        guard scope != .unsynced else { return "no server" }
        return "app \(appID), user \(userID), \(part)"
    }
}
