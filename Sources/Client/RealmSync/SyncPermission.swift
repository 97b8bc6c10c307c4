/// Whether a realm may sync, as its schedule decides. A ``Suspension`` outweighs it.
public enum SyncPermission: Equatable, Sendable {
    case run
    /// Until everything is up and down, then paused with cause ``RealmCause/refreshInterval``.
    case once(reason: String)
    /// The detail says what the cause leaves open.
    case paused(RealmCause, detail: String?)
}
