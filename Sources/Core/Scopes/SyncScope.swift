/// Which part of an app's data a realm holds.
public enum SyncScope: Hashable, Sendable {
    /// Every object of one partition.
    case partition(Partition)
    /// The objects that the realm's subscriptions select (flexible sync).
    case subscriptions
    /// Nothing: the file is synced with no server (features, C1 and C4).
    case unsynced
}
