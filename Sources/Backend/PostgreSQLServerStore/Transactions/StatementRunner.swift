import PostgreSQL
import ServerStore

/// Runs the statements of one transaction on its lane, and remembers why the transaction failed.
final class StatementRunner {
    enum Mode {
        /// The transaction has one body, which may send what it likes.
        case alone
        /// Bodies share the transaction: none of them sends a write, so that one that throws leaves
        /// nothing.
        case shared
        /// The transaction has ended: only what was expected can be read.
        case expectedOnly
    }

    let connection: Connection
    let mode: Mode
    /// The server's first error: the transaction can only be rolled back.
    private(set) var failure: PostgreSQLError?
    /// The body needs a transaction of its own, or one that is still open.
    private(set) var needsMore = false
    /// Sent before the next statement that has a result, or with COMMIT.
    private var deferred: [Step]

    /// - Parameter first: sent before the first statement.
    init(on connection: Connection, _ mode: Mode, first: [Step] = []) {
        self.connection = connection
        self.mode = mode
        deferred = first
    }

    /// The rows of the steps, in one round trip with what was deferred.
    func read(_ steps: [Step]) throws(StoreError) -> [StoredRows] {
        guard mode != .expectedOnly else { throw tooMuch() }
        return try send(steps)
    }

    func read(_ step: Step) throws(StoreError) -> StoredRows {
        guard let rows = try read([step]).first else { throw .damaged("a statement has no result") }
        return rows
    }

    /// Sends statements whose results the body needs now.
    func run(_ steps: [Step]) throws(StoreError) -> [StoredRows] {
        guard mode == .alone else { throw tooMuch() }
        return try send(steps)
    }

    /// Sends statements later.
    func write(_ steps: [Step]) throws(StoreError) {
        guard mode == .alone else { throw tooMuch() }
        for step in steps { try check(step) }
        deferred += steps
    }

    func write(_ step: Step) throws(StoreError) {
        try write([step])
    }

    /// The deferred statements, to be sent with COMMIT.
    func takeDeferred() -> [Step] {
        defer { deferred = [] }
        return deferred
    }

    private func tooMuch() -> StoreError {
        needsMore = true
        return StoreError(.failed, "the body runs again in a transaction of its own")
    }

    private func send(_ steps: [Step]) throws(StoreError) -> [StoredRows] {
        if let failure { throw StoreError(failure) }
        for step in steps { try check(step) }
        let first = deferred
        do throws(PostgreSQLError) {
            let rows = try connection.pipeline(first + steps)
            deferred = []
            return rows.dropFirst(first.count).map(StoredRows.init)
        } catch {
            failure = error
            throw StoreError(error)
        }
    }

    /// A text that PostgreSQL refuses must not fail the transaction of others.
    private func check(_ step: Step) throws(StoreError) {
        for case .text(let text?) in step.values where text.contains(0) {
            throw StoreError(.unacceptable, "a text contains U+0000; remove it")
        }
    }
}
