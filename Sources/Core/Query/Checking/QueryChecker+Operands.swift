import Changesets
import Schemas

/// Both sides of a comparison: properties first, since constants take their type.
extension QueryChecker {
    /// One side, checked.
    struct Side {
        let index: Int
        let operand: CheckedOperand
        let type: QueryType

        /// A constant outside a list.
        var constant: CheckedConstant? {
            if case .constant(let constant) = operand { constant } else { nil }
        }

        var property: CheckedProperty? {
            if case .property(let property) = operand { property } else { nil }
        }

        var isNull: Bool { constant?.value == .null }

        var quantifier: Quantifier? {
            switch operand {
            case .list(_, let quantifier, _), .operation(_, _, _, let quantifier, _): quantifier
            case .property(let property): property.quantifier
            case .constant, .aggregate, .subquery: nil
            }
        }
    }

    mutating func checkSides(
        _ sides: ComparedPair,
        _ offset: Int,
        _ scope: Int
    ) throws(LocatedProblem) -> (Side, Side) {
        let (leftIsConstant, rightIsConstant) = (constancy[sides.left], constancy[sides.right])
        guard !leftIsConstant || !rightIsConstant else { throw bothConstant(offset) }
        let pair: (Side, Side)
        if rightIsConstant {
            let left = try check(sides.left, nil, scope)
            pair = (left, try check(sides.right, left.type, scope))
        } else if leftIsConstant {
            let right = try check(sides.right, nil, scope)
            pair = (try check(sides.left, right.type, scope), right)
        } else {
            // The reference checks the right side first; do the same, to report the same mistake
            // first.
            let right = try check(sides.right, nil, scope)
            pair = (try check(sides.left, nil, scope), right)
        }
        try refuseImpossible(pair.0, pair.1, offset)
        return pair
    }

    private func refuseImpossible(
        _ left: Side,
        _ right: Side,
        _ offset: Int
    ) throws(LocatedProblem) {
        if left.property?.isElementList == true, right.property?.isElementList == true {
            throw LocatedProblem(
                .type,
                at: offset,
                "two lists cannot be compared",
                remedy: "compare the list with a value, or with a list in braces"
            )
        }
        if left.type == .kinds, right.type == .kinds, left.constant != nil, right.constant != nil {
            throw LocatedProblem(
                .type,
                at: offset,
                "the schema fixes both types",
                remedy: "remove the comparison"
            )
        }
        for (list, value) in [(left, right), (right, left)]
        where list.property?.isLinkList == true && value.isNull {
            throw LocatedProblem(
                .type,
                at: offset,
                "a list of links cannot be compared with NULL",
                remedy: "compare its @count with 0"
            )
        }
    }

    // MARK: Expressions

    /// For each expression, whether it contains no property. Lists in braces are constant, too.
    static func constancy(of query: ParsedQuery) -> [Bool] {
        var constancy: [Bool] = []
        constancy.reserveCapacity(query.expressions.count)
        for expression in query.expressions {
            switch expression {
            case .constant, .list: constancy.append(true)
            case .property, .aggregate, .subquery: constancy.append(false)
            case .operation(_, let pair, _):
                constancy.append(constancy[pair.left] && constancy[pair.right])
            }
        }
        return constancy
    }

    /// A property and one limit of BETWEEN.
    mutating func checkSides(
        _ expression: Int,
        _ limit: ConstantSyntax,
        _ offset: Int,
        _ scope: Int
    ) throws(LocatedProblem) -> (Side, Side) {
        guard !constancy[expression] else { throw bothConstant(offset) }
        let left = try check(expression, nil, scope)
        let right = try checkLeaf(.constant(limit), left.type, scope)
        try refuseImpossible(left, right, offset)
        return (left, right)
    }

    private func bothConstant(_ offset: Int) -> LocatedProblem {
        LocatedProblem(
            .type,
            at: offset,
            "both sides are constants",
            remedy: "compare a property"
        )
    }

    /// Checks an expression with all its parts, which precede it.
    ///
    /// - Parameter hint: the type of the other side, to which constants are converted.
    private mutating func check(
        _ expression: Int,
        _ hint: QueryType?,
        _ scope: Int
    ) throws(LocatedProblem) -> Side {
        guard case .operation = query.expressions[expression] else {
            return try checkLeaf(query.expressions[expression], hint, scope)
        }
        // Constants of an operation take the type of its other side, so the walk descends with
        // hints and returns with operands.
        var tasks: [Work] = [.check(expression, hint)]
        var sides: [Side] = []
        while let task = tasks.popLast() {
            switch task {
            case .check(let index, let hint):
                guard
                    case .operation(let operation, let pair, let offset) = query.expressions[index]
                else {
                    sides.append(try checkLeaf(query.expressions[index], hint, scope))
                    continue
                }
                let (leftIsConstant, rightIsConstant) = (
                    constancy[pair.left], constancy[pair.right]
                )
                let leftIsFirst = rightIsConstant && !leftIsConstant
                let (first, second) =
                    leftIsFirst ? (pair.left, pair.right) : (pair.right, pair.left)
                tasks.append(.combine(operation, leftIsFirst: leftIsFirst, offset))
                if leftIsConstant != rightIsConstant {
                    tasks.append(.checkWithHintOfLast(second))
                    tasks.append(.check(first, nil))
                } else {
                    tasks.append(.check(second, leftIsConstant ? hint : nil))
                    tasks.append(.check(first, leftIsConstant ? hint : nil))
                }
            case .checkWithHintOfLast(let index):
                tasks.append(.check(index, sides.last?.type))
            case .combine(let operation, let leftIsFirst, let offset):
                let second = sides.removeLast()
                let first = sides.removeLast()
                let (left, right) = leftIsFirst ? (first, second) : (second, first)
                sides.append(try combine(operation, left, right, offset))
            }
        }
        return sides[0]
    }

    private enum Work {
        case check(Int, QueryType?)
        case checkWithHintOfLast(Int)
        case combine(ArithmeticOperator, leftIsFirst: Bool, Int)
    }

    private mutating func combine(
        _ operation: ArithmeticOperator,
        _ left: Side,
        _ right: Side,
        _ offset: Int
    ) throws(LocatedProblem) -> Side {
        if let leftValue = left.constant?.value, let rightValue = right.constant?.value {
            let value = Arithmetic.compute(operation, leftValue, rightValue)
            return side(
                .constant(
                    // Its type is not checked against the other side.
                    CheckedConstant(value: value, type: .mixed, isFolded: true)
                ),
                .mixed
            )
        }
        let isPossible =
            (left.type.isNumber || left.type == .mixed)
            && (right.type.isNumber || right.type == .mixed)
        guard isPossible, !left.isListInBraces, !right.isListInBraces else {
            throw LocatedProblem(
                .argument,
                at: offset,
                "\(operation.sign) does not apply to \(left.type.name) and \(right.type.name)",
                remedy: "use numbers only"
            )
        }
        // Constants on the other side take the type of the left operand.
        return side(
            .operation(
                operation,
                left.index,
                right.index,
                quantifier: left.quantifier ?? right.quantifier,
                type: left.type
            ),
            left.type
        )
    }

    mutating func side(_ operand: CheckedOperand, _ type: QueryType) -> Side {
        Side(index: keep(operand), operand: operand, type: type)
    }

    private mutating func checkLeaf(
        _ expression: ExpressionSyntax,
        _ hint: QueryType?,
        _ scope: Int
    ) throws(LocatedProblem) -> Side {
        switch expression {
        case .constant(let constant):
            let value = try ConstantConversion(schema: schema).value(of: constant, for: hint)
            return side(.constant(value), value.type)
        case .list(let list):
            return try checkList(list, hint)
        case .property(let property):
            return side(try resolver(scope).resolve(property))
        case .aggregate(let aggregate):
            return try checkAggregate(aggregate, scope)
        case .subquery(let scope, _):
            return side(.subquery(scope: scope), .int)
        case .operation:
            preconditionFailure("operations are checked with their parts")
        }
    }

    private mutating func side(_ property: CheckedProperty) -> Side {
        if property.suffix == .kinds, let kinds = property.fixedKinds {
            let constant = CheckedConstant(value: .kinds(kinds), type: .kinds, isFolded: false)
            return side(.constant(constant), .kinds)
        }
        return side(.property(property), property.type)
    }

    private mutating func checkList(
        _ list: ListSyntax,
        _ hint: QueryType?
    ) throws(LocatedProblem) -> Side {
        let conversion = ConstantConversion(schema: schema)
        var values: [QueryValue] = []
        values.reserveCapacity(list.elements.count)
        for element in list.elements {
            values.append(try conversion.value(of: element, for: hint).value)
        }
        let type = hint == .kinds ? QueryType.kinds : .mixed
        return side(.list(values, quantifier: list.quantifier, type: type), type)
    }

    private mutating func checkAggregate(
        _ aggregate: AggregateSyntax,
        _ scope: Int
    ) throws(LocatedProblem) -> Side {
        var path = aggregate.path
        if let property = aggregate.property { path.elements.append(.name(property)) }
        let property = try resolver(scope)
            .resolve(PropertySyntax(quantifier: nil, path: path, suffix: nil))
        let isOfLinks = aggregate.property != nil
        guard let type = property.aggregateType(aggregate.function, isOfLinks: isOfLinks) else {
            throw LocatedProblem(
                .type,
                at: path.offset,
                "\(aggregate.function.rawValue) does not apply to this property",
                remedy: "name a list of numbers, or a number of linked objects"
            )
        }
        return side(
            .aggregate(
                CheckedAggregate(
                    function: aggregate.function,
                    property: property,
                    isOfLinks: isOfLinks,
                    type: type
                )
            ),
            type
        )
    }
}

extension QueryChecker.Side {
    fileprivate var isListInBraces: Bool {
        if case .list = operand { true } else { false }
    }
}

extension CheckedProperty {
    /// A collection of values, not of links, taken as a whole or by index.
    var isElementList: Bool {
        guard suffix == nil, case .field(let field) = target else { return false }
        return field.collection != .single && part != .length && part != .keys
    }

    var isLinkList: Bool {
        guard suffix == nil, case .object = target else { return false }
        return leadsToMany || hops.last?.hasIndex == true && hops.last?.isOfList == true
    }

    /// The possible kinds, if the schema fixes the type of all values.
    fileprivate var fixedKinds: ValueKinds? {
        switch target {
        case .object: return .link
        case .referrers: return .int
        case .field(let field):
            guard field.collection != .dictionary else { return nil }
            switch field.type {
            case .mixed: return nil
            case .int: return .int
            case .bool: return .bool
            case .string: return .string
            case .binary: return .binary
            case .timestamp: return .date
            case .float: return .float
            case .double: return .double
            case .decimal: return .decimal
            case .objectID: return .objectID
            case .uuid: return .uuid
            case .link: return .link
            }
        }
    }

    /// The type of the result, or nil if the function does not apply.
    fileprivate func aggregateType(
        _ function: AggregateFunction,
        isOfLinks: Bool
    ) -> QueryType? {
        guard case .field(let field) = target, part == .whole else { return nil }
        let isList = field.collection != .single
        guard isOfLinks ? !isList && hops.contains(where: \.leadsToMany) : isList else {
            return nil
        }
        if field.collection == .dictionary { return QueryType(field.type) }
        switch (type, function) {
        case (.mixed, _): return isOfLinks ? nil : .mixed
        case (.decimal, _): return .decimal
        case (.int, _), (.double, _), (.float, _): return type
        case (.date, .max), (.date, .min): return isOfLinks ? .date : nil
        default: return nil
        }
    }
}
