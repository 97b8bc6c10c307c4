/// The limits on the subscriptions of one client (flexible sync, 13.6).
///
/// A query within them costs at most some 50 ms of CPU for each 256 KiB in a release build.
package struct SubscriptionLimits: Hashable, Sendable {
    /// Bytes of the body of one IDENT or QUERY.
    package var bodySizeInBytes: Int
    /// Bytes of the query of one subscription.
    package var querySizeInBytes: Int
    /// Classes in one body.
    package var classes: Int
    /// Subscriptions of one class.
    package var queriesPerClass: Int
    /// Parentheses and negations around one comparison.
    package var nesting: Int
    /// Comparisons of one class: each may be made for each object. Eight constants of a list behind IN
    /// count as one.
    package var comparisons: Int
    /// Bytes of one pattern of LIKE.
    package var pattern: Int

    package init(
        bodySizeInBytes: Int = 1 << 20,
        querySizeInBytes: Int = 256 << 10,
        classes: Int = 1_000,
        queriesPerClass: Int = 1_000,
        nesting: Int = 4_000,
        comparisons: Int = 5_000,
        pattern: Int = 4_096
    ) {
        self.bodySizeInBytes = bodySizeInBytes
        self.querySizeInBytes = querySizeInBytes
        self.classes = classes
        self.queriesPerClass = queriesPerClass
        self.nesting = nesting
        self.comparisons = comparisons
        self.pattern = pattern
    }
}

extension SubscriptionLimits {
    /// Of all queries of one class, joined.
    var ofJoinedQuery: QueryLimits { QueryLimits(length: .max, nesting: nesting) }
}
