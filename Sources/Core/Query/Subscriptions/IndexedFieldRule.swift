package import Changesets

/// The rule that every subscription pins the indexed queryable field to constants (flexible sync, 12.8).
package struct IndexedFieldRule: Sendable {
    let field: Text

    package init(field: Text) {
        self.field = field
    }

    /// The values that the field is pinned to in each of the queries that a text joins.
    ///
    /// - Parameter className: a class that has the field.
    package func values(
        in text: [UInt8],
        of className: Text,
        _ rules: SubscriptionRules
    ) throws(QueryError) -> [QueryValue] {
        var values: [QueryValue] = []
        for part in JoinedQuery.parts(of: text) {
            // Each is checked alone: joined by OR, the operands of one would count for all.
            let query = try rules.check(Array(part), of: className)
            guard let pinned = pinnedValues(query.root, query) else {
                throw QueryError(
                    code: .indexedField,
                    column: TextColumn.column(of: part.startIndex, in: text),
                    message: "the query does not pin \(field), the indexed queryable field",
                    remedy:
                        "add \(field) == value or \(field) IN {values} with AND at the top level"
                )
            }
            values += pinned
        }
        return values
    }

    private func pinnedValues(_ condition: Int, _ query: CheckedQuery) -> [QueryValue]? {
        switch query.conditions[condition] {
        case .all(let parts):
            for part in parts {
                if let values = values(of: query.conditions[part], query) { return values }
            }
            return nil
        case .truth, .not, .any, .comparison, .isOneOf, .between, .absorbed:
            return values(of: query.conditions[condition], query)
        }
    }

    /// Of one comparison of the field with constants.
    private func values(of condition: CheckedCondition, _ query: CheckedQuery) -> [QueryValue]? {
        switch condition {
        case .isOneOf(let operand, let values, _):
            return isField(operand, query) ? values : nil
        case .comparison(let comparison)
        where comparison.operation == .equal && !comparison.ignoresCase:
            for (side, other) in [
                (comparison.left, comparison.right), (comparison.right, comparison.left),
            ] where isField(side, query) {
                if case .constant(let constant) = query.operands[other] { return [constant.value] }
            }
            return nil
        case .any(let parts):
            // IN with constants of a type that has no lookup is several comparisons.
            var all: [QueryValue] = []
            for part in parts {
                guard case .comparison = query.conditions[part], query.isSplitList(part),
                    let values = values(of: query.conditions[part], query)
                else { return nil }
                all += values
            }
            return all
        case .truth, .not, .all, .comparison, .between, .absorbed:
            return nil
        }
    }

    private func isField(_ operand: Int, _ query: CheckedQuery) -> Bool {
        guard case .property(let property) = query.operands[operand],
            property.isOwnValue, case .field(let named) = property.target
        else { return false }
        return named.name == field
    }
}

extension CheckedQuery {
    /// Whether a condition came from a list behind IN, rather than from an OR in the text.
    fileprivate func isSplitList(_ condition: Int) -> Bool { condition >= writtenConditions }
}
