/// The activity of a realm (interfaces, 5).
public enum RealmPhase: String, CaseIterable, Sendable {
    /// The user has not logged in yet; attempts continue.
    case waitingForUser = "waiting-for-user"
    /// The connection or the session is being established.
    case connecting
    /// The download that opening the realm requires is not complete.
    case progress
    /// Ready for programs, and connected to the server.
    case open
    /// Stopped by a user or a plugin, or by an error after which the session retries.
    case suspended
    /// Stopped by schedule, network or power; see ``RealmCause``.
    case paused
    /// No connection; the next attempt is automatic.
    case offline
    /// A client reset is running.
    case resetting
    /// A client reset needs a decision.
    case needsReset = "needs-reset"
    /// No log-in is possible with the credential.
    case loginRequired = "login-required"
    /// An error that retrying alone does not clear; see ``RealmCause``.
    case failed
}
