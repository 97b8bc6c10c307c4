/// The limits on a hostile query.
package struct QueryLimits: Hashable, Sendable {
    /// Bytes of one text. Only a joined query comes near: see `SubscriptionLimits`.
    package var length: Int
    /// Parentheses and negations around one comparison.
    package var nesting: Int
    /// Subqueries inside subqueries.
    package var subqueries: Int

    package init(length: Int = 16 << 20, nesting: Int = 4_000, subqueries: Int = 8) {
        self.length = length
        self.nesting = nesting
        self.subqueries = subqueries
    }
}
