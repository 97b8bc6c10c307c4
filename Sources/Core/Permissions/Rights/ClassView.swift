import Changesets
package import Query

/// The objects of a class that a session sees: subscription AND right to read (flexible sync, 11.7).
package struct ClassView: Sendable {
    package let query: CheckedQuery
    private let evaluator: QueryEvaluator

    /// Nil if the session sees no object of the class, with any content.
    ///
    /// - Parameter subscription: the query of the class; nil without a subscription.
    package init?(subscription: CheckedQuery?, rights: ClassRights) {
        guard let subscription, case .role(let role) = rights else { return nil }
        let query = subscription.and(role.read)
        guard query.constantResult != false else { return nil }
        self.query = query
        self.evaluator = QueryEvaluator(query)
    }

    package func contains(_ object: some QueryableObject) -> Bool { evaluator.matches(object) }
}
