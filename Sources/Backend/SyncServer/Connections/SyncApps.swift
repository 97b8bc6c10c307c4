package import Changesets
package import JSON
package import Schemas
package import Scopes
package import ServerStore

/// The served apps, as sync connections see them. An operator changes them while the server runs.
package protocol SyncApps: Sendable {
    /// Nil if the app is not served.
    func syncApp(_ id: AppID) -> SyncApp?
    /// By id.
    var syncApps: [SyncApp] { get }
}

/// Reads a user's own object for access rules, as canonical Extended JSON.
package typealias RuleDataReader =
    @Sendable (UserID, any FileReading) throws(StoreError) -> JSONValue?

/// The settings of an app for sync, and the state of its sync.
package struct SyncApp: Sendable {
    package let id: AppID
    package var syncState: SyncState
    /// The type of every partition value; nil for any.
    package var partitionType: Partition.Kind?
    /// Whether clients may add classes and properties.
    package var isDevelopmentMode: Bool
    /// Whether mixed properties may hold lists and dictionaries.
    package var allowsCollectionsInMixed: Bool
    /// Whether a client reset may recover unsynced changes.
    package var allowsClientRecovery: Bool
    package var access: AccessRules
    /// Decides instead of the rules; nil: they do.
    package var gate: (any PartitionGate)?
    /// Reads the custom data that access rules name; nil if the app has none.
    package var ruleData: RuleDataReader?
    package var quotas: UserQuotas
    /// Client files absent for longer start over; nil: none does.
    package var offlineLimitInMilliseconds: Int64?
    /// The classes that every file of the app has.
    package var schema: RealmSchema?
    /// Nil: partition-based sync.
    package var flexible: FlexibleSettings?
    /// The property with the partition of each object: clients of the other mode switch by it, and the server sets
    /// it where the creator's class lacks it.
    package var partitionKey: Text?

    package init(
        id: AppID,
        syncState: SyncState = .enabled,
        partitionType: Partition.Kind? = nil,
        isDevelopmentMode: Bool = false,
        allowsCollectionsInMixed: Bool = true,
        allowsClientRecovery: Bool = true,
        access: AccessRules = AccessRules(),
        gate: (any PartitionGate)? = nil,
        quotas: UserQuotas = .standard,
        offlineLimitInMilliseconds: Int64? = nil,
        schema: RealmSchema? = nil,
        flexible: FlexibleSettings? = nil,
        partitionKey: Text? = nil,
        ruleData: RuleDataReader? = nil
    ) {
        self.id = id
        self.syncState = syncState
        self.partitionType = partitionType
        self.isDevelopmentMode = isDevelopmentMode
        self.allowsCollectionsInMixed = allowsCollectionsInMixed
        self.allowsClientRecovery = allowsClientRecovery
        self.access = access
        self.gate = gate
        self.ruleData = ruleData
        self.quotas = quotas
        self.offlineLimitInMilliseconds = offlineLimitInMilliseconds
        self.schema = schema
        self.flexible = flexible
        self.partitionKey = partitionKey
    }
}

extension SyncApp {
    var schemaPolicy: SchemaPolicy {
        SchemaPolicy(
            allowsAdditions: isDevelopmentMode,
            allowsCollectionsInMixed: allowsCollectionsInMixed
        )
    }
}
