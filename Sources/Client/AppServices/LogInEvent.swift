/// A change of a user's log-in on this machine.
package enum LogInEvent: Sendable, Equatable {
    case loggedIn
    case tokenRefreshed
    /// The server ended it. A new log-in follows automatically if the credential is still valid.
    case sessionEnded
    /// Logged out by an operator, until the next log-in.
    case loggedOut
    /// The user was removed from this machine.
    case removed
}
