import Changesets

/// A checked query in the parts that a store can decide as well: for translation into SQL.
///
/// Keeps the nodes in an array, the parts of a node by their indexes.
package struct QueryOutline: Hashable, Sendable {
    package private(set) var nodes: [Node] = []
    package let root: Int

    package enum Node: Hashable, Sendable {
        case truth(Bool)
        case not(Int)
        case all([Int])
        case any([Int])
        case comparison(OutlinedComparison)
        /// Only the evaluator decides it.
        case opaque
    }

    package init(_ query: CheckedQuery) {
        self.root = query.root
        nodes = query.conditions.map { Self.node($0, query) }
        // BETWEEN becomes two comparisons, which are appended.
        for (index, condition) in query.conditions.enumerated() {
            guard case .between(let operand, let lowest, let highest, _) = condition,
                case .property(let property) = query.operands[operand],
                let field = property.ownField
            else { continue }
            let limits = [(ComparisonOperator.greaterOrEqual, lowest), (.lessOrEqual, highest)]
            let parts = limits.map { operation, limit in
                nodes.append(
                    .comparison(
                        OutlinedComparison(
                            field: field,
                            subject: .value,
                            operation: operation,
                            ignoresCase: false,
                            constants: [limit],
                            form: .general
                        )
                    )
                )
                return nodes.count - 1
            }
            nodes[index] = .all(parts)
        }
    }

    private static func node(_ condition: CheckedCondition, _ query: CheckedQuery) -> Node {
        switch condition {
        case .truth(let isTrue): return .truth(isTrue)
        case .not(let part): return .not(part)
        case .all(let parts): return .all(parts)
        case .any(let parts): return .any(parts)
        case .comparison(let comparison):
            return OutlinedComparison(comparison, query).map { .comparison($0) } ?? .opaque
        case .isOneOf(let operand, let values, _):
            guard case .property(let property) = query.operands[operand],
                let field = property.ownField
            else { return .opaque }
            return .comparison(
                OutlinedComparison(
                    field: field,
                    subject: .value,
                    operation: .in,
                    ignoresCase: false,
                    constants: values,
                    form: .general
                )
            )
        case .between, .absorbed: return .opaque
        }
    }
}

/// A property of the object itself compared with constants.
package struct OutlinedComparison: Hashable, Sendable {
    package let field: QueryField
    package let subject: Subject
    /// With the property on the left.
    package let operation: ComparisonOperator
    package let ignoresCase: Bool
    /// One, or those of IN.
    package let constants: [QueryValue]
    let form: CheckedComparison.Form

    package enum Subject: Hashable, Sendable {
        case value
        /// The number of elements.
        case count
        /// So many of the elements must fulfil the comparison.
        case elements(Quantifier)
    }

    /// Whether it holds for a value of the property, or for an element.
    package func holds(_ value: QueryValue) -> Bool {
        guard operation != .in else { return constants.contains(value) }
        let constant = constants[0]
        if case .plain(let type) = form {
            return PlainRules.holds(
                operation,
                value,
                constant,
                ignoresCase: ignoresCase,
                type: type
            )
        }
        return ignoresCase
            ? TextRules.holds(operation, value, constant, ignoresCase: true)
            : MixedRules.holds(operation, value, constant)
    }

    /// The lower case that comparisons with `[c]` use; its length is that of the text.
    package static func folded(_ text: [UInt8]) -> [UInt8] { CaseFolding.fold(text) }
}

extension OutlinedComparison {
    /// Nil unless one side is a property of the object itself and the other one constant.
    init?(_ comparison: CheckedComparison, _ query: CheckedQuery) {
        let sides = (query.operands[comparison.left], query.operands[comparison.right])
        let property: CheckedProperty
        let constant: CheckedConstant
        let operation: ComparisonOperator
        switch sides {
        case (.property(let left), .constant(let right)):
            (property, constant, operation) = (left, right, comparison.operation)
        case (.constant(let left), .property(let right)) where !comparison.operation.isForText:
            (property, constant) = (right, left)
            operation = comparison.operation.mirrored
        default: return nil
        }
        guard let field = property.ownField else { return nil }
        let subject: Subject
        switch (field.collection, property.suffix) {
        case (.single, nil): subject = .value
        case (.list, .size), (.set, .size): subject = .count
        case (.list, nil), (.set, nil): subject = .elements(property.quantifier ?? .any)
        default: return nil
        }
        self.init(
            field: field,
            subject: subject,
            operation: operation,
            ignoresCase: comparison.ignoresCase,
            constants: [constant.value],
            form: comparison.form
        )
    }
}

extension CheckedProperty {
    fileprivate var ownField: QueryField? {
        guard hops.isEmpty, part == .whole, case .field(let field) = target else { return nil }
        return field
    }
}

extension CheckedQuery {
    /// The positions of the object's own properties that the query reads, without the primary key.
    package var positions: Set<Int> {
        Set(
            operands.compactMap { operand in
                guard case .property(let property) = operand,
                    case .field(let field) = property.target, property.hops.isEmpty
                else { return nil }
                return field.position
            }
        )
    }
}

extension ComparisonOperator {
    /// For exchanged sides.
    fileprivate var mirrored: ComparisonOperator {
        switch self {
        case .less: .greater
        case .lessOrEqual: .greaterOrEqual
        case .greater: .less
        case .greaterOrEqual: .lessOrEqual
        case .equal, .notEqual, .in, .beginsWith, .endsWith, .contains, .like, .text: self
        }
    }
}
