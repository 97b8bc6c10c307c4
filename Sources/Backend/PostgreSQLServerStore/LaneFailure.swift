package import PostgreSQL

/// The reason why a job did not get a connection.
package enum LaneFailure: Error, Hashable, Sendable {
    /// Too many jobs wait already.
    case full
    /// The pool is shut down.
    case closed
    /// The server cannot be reached, or refuses this program.
    case noConnection(PostgreSQLError)
    /// The database is not the store that it was.
    case unusable(LayoutProblem)
    /// The system gave no thread.
    case noThread
}
