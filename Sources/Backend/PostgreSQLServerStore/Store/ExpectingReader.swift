import PostgreSQL
import ServerStore

/// Runs a body on one state of the database: in one round trip if it reads what was expected, and again
/// in a transaction that stays open if it reads more.
struct ExpectingReader {
    private let expected: ExpectedRows
    private let session: SessionGuard?
    private let make: TransactionMaker

    init(_ expected: ExpectedRows, session: SessionGuard?, _ make: TransactionMaker) {
        self.expected = expected
        self.session = session
        self.make = make
    }

    func read<Outcome>(
        on connection: Connection,
        _ body: (any StoreReading) throws -> Outcome
    ) throws -> Outcome {
        let begin = TransactionMaker.beginReading
        if expected.steps.isEmpty {
            let transaction = make.reading(on: connection, .alone, first: [begin])
            guard let outcome = try run(body, in: transaction) else {
                throw StoreError(.failed, "a read that may read all asked for more")
            }
            return outcome
        }
        let rows = try connection.pipeline([begin] + expected.steps + [Step("COMMIT")])
        if let outcome = try run(body, rows[1..<rows.count - 1], on: connection, .expectedOnly) {
            return outcome
        }
        let again = try connection.pipeline([begin] + expected.steps)
        guard let outcome = try run(body, again[1...], on: connection, .alone) else {
            throw StoreError(.failed, "a read that may read all asked for more")
        }
        return outcome
    }

    private func run<Outcome>(
        _ body: (any StoreReading) throws -> Outcome,
        _ rows: ArraySlice<Rows>,
        on connection: Connection,
        _ mode: StatementRunner.Mode
    ) throws -> Outcome? {
        let transaction = make.reading(on: connection, mode)
        try expected.note(rows, in: transaction)
        try transaction.verify(session)
        return try run(body, in: transaction)
    }

    /// Nil if the body asked for more than was expected.
    private func run<Outcome>(
        _ body: (any StoreReading) throws -> Outcome,
        in transaction: PostgreSQLTransaction
    ) throws -> Outcome? {
        do {
            let outcome = try body(transaction)
            if let failure = transaction.runner.failure { throw failure }
            return transaction.runner.needsMore ? nil : outcome
        } catch {
            if transaction.runner.needsMore { return nil }
            throw transaction.runner.failure ?? error
        }
    }
}
