internal import CPostgres

extension Connection {
    /// Runs a text of any number of statements without parameters, and discards their rows.
    ///
    /// Without `BEGIN` in it, it is one transaction. It is for the layout and for administration:
    /// values never belong into the text.
    package func execute(
        _ sql: String,
        deadline: Deadline? = nil
    ) throws(PostgreSQLError) {
        let deadline = deadline ?? .after(responseLimit)
        guard !sql.utf8.contains(0) else {
            throw PostgreSQLError(.misuse, "the text of a statement contains U+0000")
        }
        try exchange { handle throws(PostgreSQLError) in
            guard PQsendQuery(handle, sql) == 1 else { throw Self.lost(handle) }
            try flush(handle, until: deadline)
            try finish(handle, until: deadline)
        }
    }

    /// Takes all results up to the end of the command, then throws the first error among them.
    func finish(
        _ handle: OpaquePointer,
        until deadline: Deadline,
        _ body: (OpaquePointer) -> Void = { _ in }
    ) throws(PostgreSQLError) {
        var failure: PostgreSQLError?
        do throws(PostgreSQLError) {
            while let result = try nextResult(handle, until: deadline) {
                defer { PQclear(result) }
                // Results that are here already cost no wait, which would check it.
                guard !deadline.hasPassed else { throw PostgreSQLError.timedOut }
                switch PQresultStatus(result) {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                    body(result)
                case PGRES_FATAL_ERROR:
                    let error = PostgreSQLError(result: result, step: nil)
                    if failure == nil { failure = error }
                    guard error.sqlState != nil else { throw error }
                default:
                    throw Self.confused("a command has a result of an unexpected kind")
                }
            }
        } catch {
            throw failure?.losingConnection ?? error
        }
        if let failure { throw failure }
    }
}
