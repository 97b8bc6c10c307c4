import Changesets

/// Writes a query as the reference client does (flexible sync, 12.9; query as recorded, 45 to 53).
///
/// The text is the one that a client stores and sends. Parsing and writing it again can change the
/// order of three or more operands of AND or OR, so a stored text is never written again.
package struct CanonicalText {
    private let query: CheckedQuery
    private var text: [UInt8] = []
    private var tasks: [Work] = []

    private enum Work {
        case condition(Int)
        case operand(Int, CanonicalConstant.Place)
        case text(String)
    }

    package static func write(_ query: CheckedQuery) -> [UInt8] {
        var writer = CanonicalText(query: query)
        writer.tasks = [.condition(query.root)]
        writer.run()
        for ordering in query.ordering { writer.write(ordering) }
        return writer.text
    }

    private init(query: CheckedQuery) {
        self.query = query
    }

    /// Text that waits until the text before it is written keeps deep queries off the stack.
    private mutating func run() {
        while let task = tasks.popLast() {
            switch task {
            case .text(let piece): text += Array(piece.utf8)
            case .condition(let index): write(query.conditions[index])
            case .operand(let index, let place): write(query.operands[index], place)
            }
        }
    }

    /// Does the tasks in this order, before the ones that already wait.
    private mutating func schedule(_ next: [Work]) {
        tasks += next.reversed()
    }

    // MARK: Conditions

    private mutating func write(_ condition: CheckedCondition) {
        switch condition {
        case .truth(let isTrue):
            schedule([.text(isTrue ? "TRUEPREDICATE" : "FALSEPREDICATE")])
        case .not(let part):
            schedule([.text("!("), .condition(part), .text(")")])
        case .all(let parts):
            schedule(joined(parts, " and "))
        case .any(let parts):
            schedule([.text("(")] + joined(parts, " or ") + [.text(")")])
        case .comparison(let comparison):
            write(comparison)
        case .isOneOf(let operand, let values, _):
            let list = CanonicalConstant.list(values, .column)
            schedule([.operand(operand, .column), .text(" IN "), .text(list)])
        case .between(let operand, let lowest, let highest, _):
            let list = CanonicalConstant.list([lowest, highest], .column)
            schedule([.operand(operand, .column), .text(" between "), .text(list)])
        case .absorbed:
            preconditionFailure("the parts of an absorbed condition belong to another one")
        }
    }

    private func joined(_ parts: [Int], _ word: String) -> [Work] {
        var next: [Work] = []
        next.reserveCapacity(2 * parts.count)
        for part in parts {
            if !next.isEmpty { next.append(.text(word)) }
            next.append(.condition(part))
        }
        return next
    }

    private mutating func write(_ comparison: CheckedComparison) {
        if let simpler = strictOrder(comparison) { return schedule(simpler) }
        let word = comparison.operation.canonicalWord + (comparison.ignoresCase ? "[c]" : "")
        let place = place(comparison)
        schedule([
            .operand(comparison.left, place), .text(" \(word) "), .operand(comparison.right, place),
        ])
    }

    /// The context of the comparison's constants, which decides their number of digits.
    private func place(_ comparison: CheckedComparison) -> CanonicalConstant.Place {
        guard comparison.form != .general else { return .expression }
        if case .property(let property) = query.operands[comparison.left], property.type == .mixed {
            return .mixed
        }
        return .column
    }

    /// An int property `<= c` is written `< c + 1`, and `>= c` as `> c - 1`.
    private func strictOrder(_ comparison: CheckedComparison) -> [Work]? {
        guard comparison.form != .general,
            case .property(let property) = query.operands[comparison.left], property.type == .int,
            case .constant(let constant) = query.operands[comparison.right],
            case .int(let value) = constant.value
        else { return nil }
        switch comparison.operation {
        case .lessOrEqual where value < .max:
            return [.operand(comparison.left, .column), .text(" < \(value + 1)")]
        case .greaterOrEqual where value > .min:
            return [.operand(comparison.left, .column), .text(" > \(value - 1)")]
        default: return nil
        }
    }

    // MARK: Operands

    private mutating func write(_ operand: CheckedOperand, _ place: CanonicalConstant.Place) {
        switch operand {
        case .constant(let constant):
            if constant.value == .null, constant.type == .float || constant.type == .double {
                // Null from a list of floats (query as recorded, 48).
                text += Array("nan".utf8)
                return
            }
            text += CanonicalConstant.bytes(constant.value, constant.isFolded ? .list : place)
        case .list(let values, let quantifier, _):
            if let quantifier { text += Array("\(quantifier.word) ".utf8) }
            text += Array(CanonicalConstant.list(values, .list).utf8)
        case .property(let property):
            text += CanonicalPath.bytes(property, query)
        case .aggregate(let aggregate):
            text += CanonicalPath.bytes(aggregate, query)
        case .subquery(let index):
            let scope = query.scopes[index]
            guard let path = scope.path else { return }
            text += Array("SUBQUERY(".utf8) + CanonicalPath.bytes(path, query)
            schedule([
                .text(", \(CanonicalPath.variable(ofDepth: scope.depth)), "),
                .condition(scope.root), .text(").@count"),
            ])
        case .operation(let operation, let left, let right, _, _):
            schedule([
                .text("("), .operand(left, .expression), .text(" \(operation.sign) "),
                .operand(right, .expression), .text(")"),
            ])
        }
    }

    // MARK: Order

    private mutating func write(_ ordering: CheckedOrdering) {
        switch ordering {
        case .sort(let properties, let ascending):
            text += Array(" SORT(".utf8)
            for (number, property) in properties.enumerated() {
                if number > 0 { text += Array(", ".utf8) }
                text += CanonicalPath.unescapedBytes(property)
                text += Array((ascending[number] ? " ASC" : " DESC").utf8)
            }
            text.append(UInt8(ascii: ")"))
        case .distinct(let properties):
            text += Array(" DISTINCT(".utf8)
            for (number, property) in properties.enumerated() {
                if number > 0 { text += Array(", ".utf8) }
                text += CanonicalPath.unescapedBytes(property)
            }
            text.append(UInt8(ascii: ")"))
        case .limit(let count):
            text += Array(" LIMIT(\(count))".utf8)
        }
    }
}

extension ComparisonOperator {
    var canonicalWord: String {
        switch self {
        case .equal, .in: "=="
        case .notEqual: "!="
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .contains: "CONTAINS"
        case .like: "LIKE"
        case .text: "TEXT"
        }
    }
}
