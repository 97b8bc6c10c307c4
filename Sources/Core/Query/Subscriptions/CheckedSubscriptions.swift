package import Changesets
import Schemas

/// The subscriptions of one query version, checked against a schema and the limits.
package struct CheckedSubscriptions: Hashable, Sendable {
    package let body: SubscriptionSetBody
    /// By class. A class that does not exist yet is left out: it is empty until it appears.
    package let queries: [Text: CheckedQuery]
    /// The values that the indexed queryable field is pinned to, for each class that has it.
    package let pinnedValues: [Text: [QueryValue]]
}

extension SubscriptionRules {
    /// Checks all classes of a body; a mistake in one refuses the whole version (flexible sync, 5.3).
    ///
    /// - Parameters:
    ///   - indexedField: every query of a class that has the field must pin it (12.8).
    ///   - acceptsUnknownClasses: in development mode a class may appear later (12.3); until then only
    ///     the syntax of its query is checked.
    package func check(
        _ body: SubscriptionSetBody,
        indexedField: IndexedFieldRule? = nil,
        acceptsUnknownClasses: Bool = false
    ) throws(SubscriptionSetError) -> CheckedSubscriptions {
        var queries: [Text: CheckedQuery] = [:]
        var pinnedValues: [Text: [QueryValue]] = [:]
        for (className, text) in body.queries.sorted(by: { $0.key < $1.key }) {
            guard JoinedQuery.parts(of: text).count <= limits.queriesPerClass else {
                throw .tooManyQueries(className: className, limit: limits.queriesPerClass)
            }
            do throws(QueryError) {
                guard schema[className] != nil || !acceptsUnknownClasses else {
                    try Self.checkSyntax(of: text, limits: limits)
                    continue
                }
                queries[className] = try check(text, of: className)
                if let indexedField, has(indexedField.field, className) {
                    pinnedValues[className] = try indexedField.values(in: text, of: className, self)
                }
            } catch {
                throw .query(className: className, error)
            }
        }
        return CheckedSubscriptions(body: body, queries: queries, pinnedValues: pinnedValues)
    }

    private func has(_ property: Text, _ className: Text) -> Bool {
        guard let schema = schema[className] else { return false }
        return schema.primaryKey?.name == property || schema.position(of: property) != nil
    }
}

extension CheckedQuery {
    /// The properties of the class itself that the query reads, in bytewise order.
    ///
    /// In development mode they become queryable (flexible sync, 12.7); a server that stops serving
    /// one of them finds here whom that concerns (8.4).
    package var properties: [Text] {
        var names: Set<Text> = []
        for case .property(let property) in operands where property.hops.isEmpty {
            if case .field(let field) = property.target { names.insert(field.name) }
        }
        return names.sorted()
    }
}
