package import Changesets

/// Queries of one class as one query.
///
/// They have no subquery and no SORT, DISTINCT or LIMIT, as subscriptions and filters of roles.
extension CheckedQuery {
    /// A query that all objects match, or none.
    package init(_ isTrue: Bool, of className: Text) {
        self.init(className: className, text: [])
        conditions = [.truth(isTrue)]
        scopes = [CheckedScope(className: className, path: nil, parent: 0, depth: 0, root: 0)]
        writtenConditions = 1
    }

    /// True or false if the query is no more than that; nil if it depends on the object.
    package var constantResult: Bool? {
        if case .truth(let isTrue) = conditions[root] { isTrue } else { nil }
    }

    /// The objects that match both.
    package func and(_ other: CheckedQuery) -> CheckedQuery {
        joined(with: other, neutral: true) { .all($0) }
    }

    /// The objects that match one of the two.
    package func or(_ other: CheckedQuery) -> CheckedQuery {
        joined(with: other, neutral: false) { .any($0) }
    }

    /// - Parameter neutral: the result of a query that leaves the other one as it is.
    private func joined(
        with other: CheckedQuery,
        neutral: Bool,
        _ connective: ([Int]) -> CheckedCondition
    ) -> CheckedQuery {
        precondition(className == other.className, "queries of one class are joined")
        precondition(isPlain && other.isPlain, "queries with subqueries or an order are not joined")
        if self == other { return self }
        if let result = constantResult { return result == neutral ? other : self }
        if let result = other.constantResult { return result == neutral ? self : other }
        var joined = self
        joined.append(other)
        joined.root = joined.conditions.count
        joined.conditions.append(connective([root, other.root + conditions.count]))
        joined.scopes[0].root = joined.root
        joined.writtenConditions = joined.conditions.count
        return joined
    }

    private var isPlain: Bool { scopes.count == 1 && ordering.isEmpty }

    private mutating func append(_ other: CheckedQuery) {
        let (first, firstOperand) = (conditions.count, operands.count)
        for condition in other.conditions {
            conditions.append(condition.moved(by: first, operands: firstOperand))
        }
        for operand in other.operands {
            guard
                case .operation(let operation, let left, let right, let quantifier, let type) =
                    operand
            else {
                operands.append(operand)
                continue
            }
            operands.append(
                .operation(
                    operation,
                    left + firstOperand,
                    right + firstOperand,
                    quantifier: quantifier,
                    type: type
                )
            )
        }
    }
}

extension CheckedCondition {
    fileprivate func moved(by distance: Int, operands: Int) -> CheckedCondition {
        switch self {
        case .truth, .absorbed: return self
        case .not(let part): return .not(part + distance)
        case .all(let parts): return .all(parts.map { $0 + distance })
        case .any(let parts): return .any(parts.map { $0 + distance })
        case .comparison(var comparison):
            comparison.left += operands
            comparison.right += operands
            return .comparison(comparison)
        case .isOneOf(let operand, let values, let offset):
            return .isOneOf(operand: operand + operands, values, offset: offset)
        case .between(let operand, let lowest, let highest, let offset):
            return .between(operand: operand + operands, lowest, highest, offset: offset)
        }
    }
}
