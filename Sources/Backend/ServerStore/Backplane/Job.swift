/// Periodic work for the whole server, which one of its processes does.
package enum Job: String, Hashable, Sendable, CaseIterable {
    /// Removes history that no client needs, and expires clients.
    case trimming
    /// Removes unused realms and client files.
    case sweeping
    /// Removes expired log-ins and tokens.
    case expiry
    /// Removes what terminations of sync left; every 5 minutes.
    case remains
    /// Keeps the typed views of objects as the classes are; every 5 seconds.
    case views
}
