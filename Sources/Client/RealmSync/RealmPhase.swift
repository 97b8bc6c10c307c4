/// What a realm is doing (interfaces, 5).
public enum RealmPhase: String, CaseIterable, Sendable {
    /// The user has not logged in yet; the agent is trying to.
    case waitingForUser = "waiting-for-user"
    /// A connection or a session is being made.
    case connecting
    /// The download that opening the realm requires is not complete.
    case progress
    /// Usable, and in contact with the server.
    case open
    /// Stopped by a user or a plugin, or by an error after which the session binds again.
    case suspended
    /// Stopped by schedule, network or power; see ``RealmCause``.
    case paused
    /// No connection; the next attempt comes by itself.
    case offline
    /// A client reset is running.
    case resetting
    /// A client reset needs a decision.
    case needsReset = "needs-reset"
    /// Nobody can log in with the credential.
    case loginRequired = "login-required"
    /// An error that retrying alone does not clear; see ``RealmCause``.
    case failed
}
