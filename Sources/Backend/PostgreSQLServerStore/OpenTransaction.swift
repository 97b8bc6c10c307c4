package import PostgreSQL

/// A transaction that a body works in: the rows of its first pipeline, and the writes of its last.
///
/// The body may run more than once, on other connections: it has no effects but on the transaction.
package struct OpenTransaction: ~Copyable {
    /// For reads that were not expected; each call is a round trip.
    package let connection: Connection
    /// The rows of the steps that began the transaction, in their order.
    package let rows: [Rows]
    /// Sent together with COMMIT, in one round trip.
    package var writes: [Step] = []

    /// Each statement sees what others committed before it, with any default of the database.
    private static let beginning = Step("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")

    /// The pipelines that the transaction took besides the first and the last one are the body's.
    static func run<Outcome: Sendable>(
        on connection: Connection,
        _ steps: [Step],
        _ body: (inout OpenTransaction) throws -> Outcome
    ) throws -> End<Outcome> {
        let identity = try connection.identity()
        let rows = try connection.pipeline([beginning, TransactionTicket.step] + steps)
        guard rows.count == steps.count + 2 else {
            throw PostgreSQLError.malformed("a step has no result")
        }
        let ticket = TransactionTicket(number: try rows[1].integer(0, 0), server: identity)
        var transaction = OpenTransaction(connection: connection, rows: Array(rows[2...]))
        let outcome = try body(&transaction)
        let last = transaction.writes + [Step("COMMIT")]
        do {
            let results = try connection.pipeline(last)
            // The COMMIT of a transaction that failed before is a rollback, and no error.
            guard results.last?.command == "COMMIT" else { throw PostgreSQLError.rolledBack }
            return .committed(outcome)
        } catch {
            guard let error = error as? PostgreSQLError, error.connectionIsLost else { throw error }
            guard isAmbiguous(error, commit: last.count - 1) else { throw error }
            return .unanswered(outcome, ticket, error)
        }
    }

    enum End<Outcome: Sendable>: Sendable {
        case committed(Outcome)
        /// The connection was lost, and COMMIT may have run.
        case unanswered(Outcome, TransactionTicket, PostgreSQLError)
    }

    /// Whether a transaction may have committed though its connection was lost: unless the server
    /// reported the end of a step before COMMIT.
    static func isAmbiguous(_ error: PostgreSQLError, commit: Int) -> Bool {
        guard error.sqlState != nil, let step = error.step else { return true }
        return step >= commit
    }
}
