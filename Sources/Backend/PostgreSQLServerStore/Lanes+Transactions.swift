package import PostgreSQL

extension Lanes {
    /// Attempts after the first, when transactions conflict or the connection is lost.
    private static var repetitions: Int { 3 }

    /// Runs the body in a transaction that commits when it returns, and rolls back when it throws.
    ///
    /// Two round trips: `BEGIN` with the steps, and the body's writes with `COMMIT`. After a deadlock, a
    /// conflict (40P01, 40001) or a lost connection the body runs again, three times at most. If the
    /// answer to COMMIT is lost, another connection asks for the outcome (server on PostgreSQL, 7.2).
    ///
    /// Throws the errors of the body, `PostgreSQLError`, `LaneFailure` and `TransactionFailure`.
    package func transact<Outcome: Sendable>(
        _ steps: [Step] = [],
        _ body: @escaping @Sendable (inout OpenTransaction) throws -> Outcome
    ) async throws -> Outcome {
        try await repeating {
            switch try await attemptTransaction(steps, body) {
            case .committed(let outcome):
                return outcome
            case .unanswered(let outcome, let ticket, let error):
                switch try await self.outcome(of: ticket, error) {
                case .committed: return outcome
                case .aborted: throw error
                case .unknown: throw TransactionFailure.unknownOutcome(error)
                }
            }
        }
    }

    /// Runs the body again where another attempt may succeed, three times at most.
    func repeating<Outcome: Sendable>(
        _ body: () async throws -> Outcome
    ) async throws -> Outcome {
        var attempt = 0
        while true {
            do {
                return try await body()
            } catch let error as PostgreSQLError
                where Self.isWorthRepeating(error) && attempt < Self.repetitions
            {
                attempt += 1
            }
        }
    }

    private func attemptTransaction<Outcome: Sendable>(
        _ steps: [Step],
        _ body: @escaping @Sendable (inout OpenTransaction) throws -> Outcome
    ) async throws -> OpenTransaction.End<Outcome> {
        try await perform { try OpenTransaction.run(on: $0, steps, body) }
    }

    /// Without a connection to ask, nothing is known.
    private func outcome(
        of ticket: TransactionTicket,
        _ error: PostgreSQLError
    ) async throws -> CommitOutcome {
        do {
            let limit = outcomeLimit
            return try await perform { try $0.outcome(of: ticket, until: .after(limit)) }
        } catch {
            return .unknown
        }
    }

    /// Whether another attempt may succeed: nothing of this one was committed.
    private static func isWorthRepeating(_ error: PostgreSQLError) -> Bool {
        switch error.condition {
        case .mustRetry: true
        // A wait that took its whole time would take it again.
        case .unreachable: error.cause != .timedOut && error.cause != .interrupted
        case .locked, .timedOut, .diskFull, .readOnly, .tooManyConnections, .constraint,
            .unacceptable, .unusable, .other:
            false
        }
    }
}
