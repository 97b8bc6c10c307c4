extension Connection {
    /// Asks what became of a transaction of another connection, which was lost.
    ///
    /// A COMMIT that waits for a replica counts as under way; so does one whose connection the server
    /// has not missed yet. Then it is asked again until the deadline.
    ///
    /// Notifications that arrive meanwhile are lost.
    ///
    /// - Parameter pause: the time between two questions.
    package func outcome(
        of ticket: TransactionTicket,
        until deadline: Deadline = .after(.seconds(10)),
        pause: Duration = .milliseconds(100)
    ) throws(PostgreSQLError) -> CommitOutcome {
        guard try identity().hasSameHistory(as: ticket.server) else { return .unknown }
        while true {
            switch try status(of: ticket) {
            case "committed": return .committed
            case "aborted": return .aborted
            case "in progress": break
            default: return .unknown
            }
            guard deadline.remaining > pause else { return .unknown }
            try idle(until: .after(pause))
        }
    }

    private func status(of ticket: TransactionTicket) throws(PostgreSQLError) -> String? {
        do throws(PostgreSQLError) {
            let rows = try run(
                "SELECT pg_xact_status($1::text::xid8)",
                [.string(String(UInt64(bitPattern: ticket.number)))]
            )
            return try rows.isNull(0, 0) ? nil : try rows.string(0, 0)
        } catch {
            // The number lies in the future: the server went back.
            guard error.sqlState == "22023" else { throw error }
            return nil
        }
    }
}
