/// Reading after an operand, and the reduction of operators.
///
/// Tightest first: NOT over a condition; `*` `/`; `+` `-`; comparisons; AND; OR.
extension QueryParser {
    enum Next {
        case operand, `operator`, end
    }

    /// Reads one token after an operand.
    mutating func readOperatorPosition() throws(LocatedProblem) -> Next {
        switch token.kind {
        case .plus: return try readArithmetic(.plus)
        case .minus: return try readArithmetic(.minus)
        case .star: return try readArithmetic(.times)
        case .slash: return try readArithmetic(.dividedBy)
        case .and: return try readConnective(.and)
        case .or: return try readConnective(.or)
        case .between: return try readBetween()
        case .geoWithin: return try readGeoWithin()
        case .rightParenthesis: return try closeParenthesis()
        case .end, .sort, .distinct, .limit: return .end
        default: return try readComparison()
        }
    }

    // MARK: Arithmetic

    private mutating func readArithmetic(
        _ operation: ArithmeticOperator
    ) throws(LocatedProblem) -> Next {
        if case .comparison(let comparison, _, _) = operators.last, comparison.isForText {
            throw unexpected(expecting: "AND, OR or the end")
        }
        guard case .expression = operands.last else {
            throw unexpected(expecting: "AND, OR or the end")
        }
        reduceArithmetic(bindingAsTightlyAs: operation)
        operators.append(.arithmetic(operation, offset: token.range.lowerBound))
        try advance()
        return .operand
    }

    /// Left to right among equals.
    private mutating func reduceArithmetic(bindingAsTightlyAs next: ArithmeticOperator?) {
        let limit = next?.precedence ?? 0
        while case .arithmetic(let operation, let operatorOffset) = operators.last,
            operation.precedence >= limit
        {
            operators.removeLast()
            guard case .expression(let right, _, _) = operands.removeLast(),
                case .expression(let left, _, let offset) = operands.removeLast()
            else { preconditionFailure("arithmetic has two expressions") }
            query.expressions.append(
                .operation(
                    operation,
                    ComparedPair(left: left, right: right),
                    offset: operatorOffset
                )
            )
            operands.append(
                .expression(query.expressions.count - 1, isBare: false, offset: offset)
            )
        }
    }

    // MARK: Comparisons

    private mutating func readComparison() throws(LocatedProblem) -> Next {
        guard let operation = token.kind.comparison else {
            throw unexpected(expecting: isComparisonDone ? "AND, OR or the end" : "an operator")
        }
        try prepareLeftSide(mustBeBare: operation.isForText)
        let offset = token.range.lowerBound
        try advance()
        var ignoresCase = false
        if token.kind == .ignoringCase, operation.allowsIgnoringCase {
            ignoresCase = true
            try advance()
        }
        operators.append(.comparison(operation, ignoresCase: ignoresCase, offset: offset))
        return .operand
    }

    /// Whether the last operand completes a comparison, or is a condition itself.
    private var isComparisonDone: Bool {
        if case .condition = operands.last { return true }
        if case .comparison = operators.last { return true }
        return false
    }

    /// Completes the left side of a comparison, and checks that a comparison is allowed here.
    private mutating func prepareLeftSide(mustBeBare: Bool) throws(LocatedProblem) {
        if !mustBeBare { reduceArithmetic(bindingAsTightlyAs: nil) }
        guard allowsCondition, case .expression(_, let isBare, _) = operands.last,
            isBare || !mustBeBare
        else { throw unexpected(expecting: "AND, OR or the end") }
    }

    private mutating func readBetween() throws(LocatedProblem) -> Next {
        try prepareLeftSide(mustBeBare: true)
        let operatorOffset = token.range.lowerBound
        guard case .expression(let left, _, let offset) = operands.removeLast() else {
            preconditionFailure("BETWEEN follows an expression")
        }
        try advance()
        let list = try parseList()
        query.expressions.append(.list(list))
        let pair = ComparedPair(left: left, right: query.expressions.count - 1)
        append(.between(pair, offset: operatorOffset, scope: scope), at: offset)
        return .operator
    }

    private mutating func readGeoWithin() throws(LocatedProblem) -> Next {
        try prepareLeftSide(mustBeBare: true)
        guard case .expression(let left, _, let offset) = operands.removeLast(),
            case .property(let property) = query.expressions[left]
        else { throw unexpected(expecting: "a comparison with a property") }
        let operatorOffset = token.range.lowerBound
        try advance()
        try skipShape()
        append(.geoWithin(property, offset: operatorOffset, scope: scope), at: offset)
        return .operator
    }

    private mutating func reduceComparison() throws(LocatedProblem) {
        reduceArithmetic(bindingAsTightlyAs: nil)
        guard case .comparison(let operation, let ignoresCase, let operatorOffset) = operators.last
        else { return }
        operators.removeLast()
        guard case .expression(let right, _, _) = operands.removeLast(),
            case .expression(let left, _, let offset) = operands.removeLast()
        else { preconditionFailure("a comparison has two expressions") }
        let comparison = ComparisonSyntax(
            operation: operation,
            ignoresCase: ignoresCase,
            sides: ComparedPair(left: left, right: right),
            offset: operatorOffset,
            scope: scope
        )
        append(.comparison(comparison), at: offset)
    }

    // MARK: Conditions

    private mutating func readConnective(
        _ connective: PendingOperator
    ) throws(LocatedProblem) -> Next {
        let isAnd = if case .and = connective { true } else { false }
        try reduceConditions(upToAnd: !isAnd)
        operators.append(connective)
        try advance()
        return .operand
    }

    /// Reduces comparison and negations, then ANDs, and if requested ORs, down to the last open
    /// parenthesis.
    private mutating func reduceConditions(upToAnd includesOr: Bool) throws(LocatedProblem) {
        try reduceComparison()
        compareWithTrue()
        guard case .condition = operands.last else {
            throw unexpected(expecting: "a comparison")
        }
        while true {
            switch operators.last {
            case .not:
                operators.removeLast()
                leaveNesting()
                let (operand, offset) = popCondition()
                append(.not(operand), at: offset)
            case .and:
                operators.removeLast()
                let (right, _) = popCondition()
                let (left, offset) = popCondition()
                append(.and(left, right), at: offset)
            case .or:
                guard includesOr else { return }
                operators.removeLast()
                let (right, _) = popCondition()
                let (left, offset) = popCondition()
                append(.or(left, right), at: offset)
            case nil, .parenthesis, .subquery, .comparison, .arithmetic:
                return
            }
        }
    }

    /// A value alone is a condition in a rule.
    private mutating func compareWithTrue() {
        guard isRule, case .expression(let left, _, let offset) = operands.last else { return }
        operands.removeLast()
        let constant = ConstantSyntax(literal: .value(.bool(true)), offset: offset)
        query.expressions.append(.constant(constant))
        let comparison = ComparisonSyntax(
            operation: .equal,
            ignoresCase: false,
            sides: ComparedPair(left: left, right: query.expressions.count - 1),
            offset: offset,
            scope: scope
        )
        append(.comparison(comparison), at: offset)
    }

    private mutating func popCondition() -> (Int, offset: Int) {
        guard case .condition(let index, let offset) = operands.removeLast() else {
            preconditionFailure("only conditions are joined")
        }
        return (index, offset)
    }

    /// The whole condition, at the end of the text.
    mutating func finishCondition() throws(LocatedProblem) -> Int {
        try reduceConditions(upToAnd: true)
        guard operators.isEmpty else { throw unexpected(expecting: "\")\"") }
        return popCondition().0
    }

    private mutating func closeParenthesis() throws(LocatedProblem) -> Next {
        reduceArithmetic(bindingAsTightlyAs: nil)
        if !isRule, case .parenthesis(_, let offset) = operators.last,
            case .expression(let index, _, _) = operands.last
        {
            operators.removeLast()
            operands.removeLast()
            operands.append(.expression(index, isBare: false, offset: offset))
            leaveNesting()
            try advance()
            return .operator
        }
        try reduceConditions(upToAnd: true)
        switch operators.last {
        case .parenthesis(_, let offset):
            operators.removeLast()
            let (index, _) = popCondition()
            operands.append(.condition(index, offset: offset))
            leaveNesting()
            try advance()
        case .subquery:
            try closeSubquery(condition: popCondition().0)
        case nil, .or, .and, .not, .comparison, .arithmetic:
            throw unexpected(expecting: "AND, OR or the end")
        }
        return .operator
    }
}

extension ArithmeticOperator {
    fileprivate var precedence: Int {
        switch self {
        case .plus, .minus: 1
        case .times, .dividedBy: 2
        }
    }
}

extension QueryToken.Kind {
    fileprivate var comparison: ComparisonOperator? {
        switch self {
        case .equal: .equal
        case .notEqual: .notEqual
        case .less: .less
        case .lessOrEqual: .lessOrEqual
        case .greater: .greater
        case .greaterOrEqual: .greaterOrEqual
        case .in: .in
        case .beginsWith: .beginsWith
        case .endsWith: .endsWith
        case .contains: .contains
        case .like: .like
        case .text: .text
        default: nil
        }
    }
}
