package import PostgreSQL

/// The reason why a transaction has no result, besides errors of its body and of the server.
package enum TransactionFailure: Error, Hashable, Sendable {
    /// The connection was lost at COMMIT, and no server can tell whether it ran (server on PostgreSQL,
    /// 7.2). It must not be run again.
    case unknownOutcome(PostgreSQLError)
}
