import Logging
import PostgreSQL
import ServerStore

/// Makes the transactions of one store.
struct TransactionMaker: Sendable {
    let schemas: SharedSchemas
    let logger: Logger

    func writing(
        on connection: Connection,
        _ mode: StatementRunner.Mode = .alone
    ) -> PostgreSQLTransaction {
        PostgreSQLTransaction(
            StatementRunner(on: connection, mode),
            .writing,
            schemas: schemas,
            logger: logger
        )
    }

    /// - Parameter first: sent before the first statement.
    func reading(
        on connection: Connection,
        _ mode: StatementRunner.Mode,
        first: [Step] = []
    ) -> PostgreSQLTransaction {
        PostgreSQLTransaction(
            StatementRunner(on: connection, mode, first: first),
            .reading,
            schemas: schemas,
            logger: logger
        )
    }

    static let beginReading = Step("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
}
