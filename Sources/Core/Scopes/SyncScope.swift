/// The part of an app's data in a realm.
public enum SyncScope: Hashable, Sendable {
    /// Every object of one partition.
    case partition(Partition)
    /// The objects that the realm's subscriptions select (flexible sync).
    case subscriptions
    /// None: the file is not synced (features, C1 and C4).
    case unsynced
}
