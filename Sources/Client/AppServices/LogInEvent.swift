/// A change of a user's log-in on this machine.
package enum LogInEvent: Sendable, Equatable {
    case loggedIn
    case tokenRefreshed
    /// The server ended it. A new log-in follows automatically if the credential is still valid.
    case sessionEnded
    /// By an operator, until the next one logs in.
    case loggedOut
    /// Nothing is known here of the user any more.
    case removed
}
