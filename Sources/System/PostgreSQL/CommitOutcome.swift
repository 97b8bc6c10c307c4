/// The fate of a transaction whose COMMIT had no answer (server on PostgreSQL, 7.2).
package enum CommitOutcome: Hashable, Sendable {
    case committed
    /// It can be run again.
    case aborted
    /// The server cannot tell, or another server answers now.
    case unknown
}
