/// Hourly work for the whole server, which one of its processes does.
package enum Job: String, Hashable, Sendable, CaseIterable {
    /// Removes history that no client needs, and expires clients.
    case trimming
    /// Removes unused realms and client files.
    case sweeping
    /// Removes expired log-ins and tokens.
    case expiry
}
