/// A schedule's decision whether a realm may sync. A ``Suspension`` takes precedence.
public enum SyncPermission: Equatable, Sendable {
    /// The realm may sync.
    case run
    /// The realm may sync until all transfers are complete; then it is paused with the cause
    /// ``RealmCause/refreshInterval``. The reason appears in the log.
    case once(reason: String)
    /// The realm must not sync. The detail adds to the cause, for people.
    case paused(RealmCause, detail: String?)
}
