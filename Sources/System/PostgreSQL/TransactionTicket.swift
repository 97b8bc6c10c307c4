/// A transaction and the server that gave it its number.
package struct TransactionTicket: Hashable, Sendable {
    /// The number with its epoch, which is never used twice under one timeline.
    package let number: Int64
    package let server: ServerIdentity

    package init(number: Int64, server: ServerIdentity) {
        self.number = number
        self.server = server
    }

    /// The query of the number, for the first pipeline of a transaction.
    package static let step = Step("SELECT pg_current_xact_id()::text::int8")
}
