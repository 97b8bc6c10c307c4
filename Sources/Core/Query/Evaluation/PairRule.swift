/// Compares the values of two sides for one object, with ANY, ALL and NONE (flexible sync, 12.5;
/// query as recorded, 39).
struct PairRule {
    let operation: ComparisonOperator
    let ignoresCase: Bool

    func holds(
        _ left: ValueSequence,
        _ leftQuantifier: Quantifier?,
        _ right: ValueSequence,
        _ rightQuantifier: Quantifier?
    ) -> Bool {
        if !left.isList, !right.isList {
            guard let left = left.values.first, let right = right.values.first else { return false }
            return holds(left, right)
        }
        if left.isList, right.isList, leftQuantifier == nil, rightQuantifier == nil {
            return holdsAsWhole(left.values, right.values)
        }
        let leftQuantifier = leftQuantifier ?? .any
        let rightQuantifier = rightQuantifier ?? .any
        // The nesting of the two sides' quantifiers matters. For text operators it is reversed.
        if operation.isForText {
            return rightQuantifier.holds(over: right.values) { right in
                leftQuantifier.holds(over: left.values) { holds($0, right) }
            }
        }
        return leftQuantifier.holds(over: left.values) { left in
            rightQuantifier.holds(over: right.values) { holds(left, $0) }
        }
    }

    /// Two lists without a quantifier are compared element by element, in order.
    private func holdsAsWhole(_ left: [QueryValue], _ right: [QueryValue]) -> Bool {
        guard left.count == right.count else { return operation == .notEqual }
        return zip(left, right).allSatisfy { holds($0, $1) }
    }

    private func holds(_ left: QueryValue, _ right: QueryValue) -> Bool {
        ignoresCase
            ? TextRules.holds(operation, left, right, ignoresCase: true)
            : MixedRules.holds(operation, left, right)
    }
}

extension Quantifier {
    fileprivate func holds(
        over values: [QueryValue],
        _ condition: (QueryValue) -> Bool
    ) -> Bool {
        switch self {
        case .any: values.contains(where: condition)
        case .all: values.allSatisfy(condition)
        case .none: !values.contains(where: condition)
        }
    }
}
