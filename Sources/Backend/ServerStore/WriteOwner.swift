/// The owner of a write: owners take turns at the store, so that none delays the others.
package enum WriteOwner: Hashable, Sendable {
    /// Log-ins, accounts, and operators' calls. These are short, and come first.
    case accounts
    /// The work of a user's sessions.
    case user(UserID)
    /// The server's own work: snapshots, trimming.
    case upkeep
}
