/// Whose work a write is: the store does it in turns, so that the work of one does not keep the others
/// waiting.
package enum WriteOwner: Hashable, Sendable {
    /// Log-ins, accounts, and what operators do. It is short, and comes first.
    case accounts
    /// Everything that a user's sessions ask for.
    case user(UserID)
    /// What the server does on its own: snapshots, trimming.
    case upkeep
}
