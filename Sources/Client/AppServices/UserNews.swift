/// What happened to a user's log-in on this machine.
package enum UserNews: Sendable, Equatable {
    case loggedIn
    case tokenRefreshed
    /// The server has ended it; a new one follows by itself where the credential still holds.
    case sessionEnded
    /// By an operator, until the next one logs in.
    case loggedOut
    /// Nothing is known here of the user any more.
    case removed
}
