import Changesets
import Schemas

/// The rules of each kind of comparison (flexible sync, 12.4 and 12.5).
extension QueryChecker {
    // MARK: Equality

    mutating func checkEquality(
        _ comparison: ComparisonSyntax,
        _ left: Side,
        _ right: Side
    ) throws(LocatedProblem) -> CheckedCondition {
        let offset = comparison.offset
        try refuseWrongLinks(left, right, offset)
        try refuseWrongLinks(right, left, offset)
        guard left.type.isComparable(with: right.type) else {
            throw incomparable(left.type, right.type, offset)
        }
        if left.type == .kinds || right.type == .kinds, left.type != right.type {
            throw LocatedProblem(
                .argument,
                at: offset,
                "@type cannot be compared with \(left.type == .kinds ? right.type.name : left.type.name)",
                remedy: "write the name of a type as a string"
            )
        }
        if comparison.operation == .in, !checked.hasManyValues(right.operand) {
            throw LocatedProblem(
                .argument,
                at: offset,
                "IN needs a list on its right",
                remedy: "write the values in braces, or use =="
            )
        }
        if comparison.operation != .notEqual,
            let condition = try checkMembership(left, right, offset)
        {
            return condition
        }
        let right = withoutNeedlessList(right, beside: left)
        let left = withoutNeedlessQuantifier(left, beside: right)
        let isPlain =
            right.constant != nil && left.property?.isOwnValue == true
            && (left.type == right.type || left.type == .mixed)
        var ignoresCase = comparison.ignoresCase
        if ignoresCase {
            if isPlain, !left.type.isBytes, left.type != .mixed { ignoresCase = false }
            if isPlain, left.type == .mixed, comparison.operation != .notEqual, !right.type.isBytes
            {
                ignoresCase = false
            }
            if !isPlain { try refuseUnlessText(right.type, offset) }
            // Arithmetic with a text gives null, which is written as NULL.
            if right.isNull { ignoresCase = false }
        }
        return .comparison(
            CheckedComparison(
                operation: comparison.operation == .notEqual ? .notEqual : .equal,
                ignoresCase: ignoresCase,
                left: left.index,
                right: right.index,
                form: isPlain ? .plain(left.type) : .general,
                offset: offset
            )
        )
    }

    /// One constant in braces beside a property of type Mixed is written without them. NONE would
    /// change its meaning, so it keeps them.
    private mutating func withoutNeedlessList(_ right: Side, beside left: Side) -> Side {
        guard left.property?.isOwnValue == true, left.type == .mixed,
            case .list(let values, let quantifier, _) = right.operand, values.count == 1,
            quantifier != Quantifier.none
        else { return right }
        let type = QueryType(of: values[0])
        return side(
            .constant(CheckedConstant(value: values[0], type: type, isFolded: false)),
            type
        )
    }

    /// ANY before the object's own links has no effect beside constants, and is not written.
    private mutating func withoutNeedlessQuantifier(_ left: Side, beside right: Side) -> Side {
        guard var property = left.property, left.type == .link, property.quantifier == .any,
            property.hops.count == 1, property.suffix == nil
        else { return left }
        switch right.operand {
        case .constant, .list: break
        case .property, .aggregate, .subquery, .operation: return left
        }
        property.quantifier = nil
        return side(.property(property), left.type)
    }

    private func refuseWrongLinks(
        _ link: Side,
        _ constant: Side,
        _ offset: Int
    ) throws(LocatedProblem) {
        guard link.type == .link, case .object(let className) = link.property?.target else {
            return
        }
        let values: [QueryValue]
        switch constant.operand {
        case .constant(let constant): values = [constant.value]
        case .list(let elements, _, _): values = elements
        case .property, .aggregate, .subquery, .operation: return
        }
        for value in values {
            switch value {
            case .null: continue
            case .link(let reference) where reference.className == className: continue
            default:
                throw LocatedProblem(
                    .type,
                    at: offset,
                    "a link to \(className) cannot be compared with this value",
                    remedy: "write obj(\"\(className)\", key) or NULL"
                )
            }
        }
    }

    /// A property of the object itself and constants of its type: each is looked up, and constants
    /// of other types are left out (query as recorded, 1).
    private mutating func checkMembership(
        _ left: Side,
        _ right: Side,
        _ offset: Int
    ) throws(LocatedProblem) -> CheckedCondition? {
        guard let property = left.property, property.isOwnValue, property.type != .mixed,
            case .list(let values, let quantifier, _) = right.operand, !values.isEmpty,
            quantifier ?? .any == .any, case .field(let field) = property.target
        else { return nil }
        let usable = values.filter { value in
            guard value == .null else { return QueryType(of: value) == property.type }
            // A lookup of null finds nothing in a required property, but is still written.
            return field.isNullable || [.string, .objectID, .uuid].contains(property.type)
        }
        guard !usable.isEmpty else { return .truth(false) }
        switch property.type {
        case .int, .string, .objectID, .uuid:
            var seen: Set<QueryValue> = []
            let distinct = usable.filter { seen.insert($0).inserted }
            return .isOneOf(operand: left.index, distinct, offset: offset)
        case .bool, .binary, .float, .double, .decimal, .date, .link, .mixed, .kinds, .null:
            var parts: [Int] = []
            for value in usable {
                let constant = CheckedConstant(
                    value: value,
                    type: property.type,
                    isFolded: false
                )
                parts.append(
                    keep(
                        .comparison(
                            CheckedComparison(
                                operation: .equal,
                                ignoresCase: false,
                                left: left.index,
                                right: keep(.constant(constant)),
                                form: .plain(property.type),
                                offset: offset
                            )
                        )
                    )
                )
            }
            if parts.count == 1 { return checked.conditions.removeLast() }
            return .any(parts)
        }
    }

    // MARK: Order

    mutating func checkOrder(
        _ operation: ComparisonOperator,
        _ left: Side,
        _ right: Side,
        _ offset: Int
    ) throws(LocatedProblem) -> CheckedCondition {
        guard left.type != .link, left.type != .kinds else {
            throw LocatedProblem(
                .type,
                at: offset,
                "\(left.type.name) has no order",
                remedy: "use == or !="
            )
        }
        guard left.isNull || right.isNull || left.type.isComparable(with: right.type) else {
            throw incomparable(left.type, right.type, offset)
        }
        let isPlain =
            right.constant != nil && left.property?.isOwnValue == true
            && (left.type == right.type || left.type == .mixed)
            && left.type != .bool && left.type != .binary
        return .comparison(
            CheckedComparison(
                operation: operation,
                ignoresCase: false,
                left: left.index,
                right: right.index,
                form: isPlain ? .plain(left.type) : .general,
                offset: offset
            )
        )
    }

    mutating func checkBetween(
        _ sides: ComparedPair,
        _ offset: Int,
        _ scope: Int
    ) throws(LocatedProblem) -> CheckedCondition {
        guard case .list(let list) = query.expressions[sides.right], list.elements.count == 2 else {
            throw LocatedProblem(
                .type,
                at: offset,
                "BETWEEN needs two limits",
                remedy: "write BETWEEN {lower, upper}"
            )
        }
        if case .property(let syntax) = query.expressions[sides.left] {
            let property = try resolver(scope).resolve(syntax)
            if property.isElementList, syntax.quantifier != .all {
                throw LocatedProblem(
                    .type,
                    at: offset,
                    "BETWEEN applies to a list only with ALL",
                    remedy: "write ALL before the list"
                )
            }
        }
        let lower = try checkLimit(sides.left, list.elements[0], .greaterOrEqual, offset, scope)
        let upper = try checkLimit(sides.left, list.elements[1], .lessOrEqual, offset, scope)
        if case .comparison(let low) = lower, case .comparison(let high) = upper,
            low.form != .general, high.form != .general,
            case .property(let property) = checked.operands[low.left],
            property.type == .int || property.type == .date,
            case .constant(let lowest) = checked.operands[low.right],
            case .constant(let highest) = checked.operands[high.right],
            lowest.type == property.type, highest.type == property.type
        {
            return .between(operand: low.left, lowest.value, highest.value, offset: offset)
        }
        return .all([keep(lower), keep(upper)])
    }

    private mutating func checkLimit(
        _ expression: Int,
        _ limit: ConstantSyntax,
        _ operation: ComparisonOperator,
        _ offset: Int,
        _ scope: Int
    ) throws(LocatedProblem) -> CheckedCondition {
        let (left, right) = try checkSides(expression, limit, offset, scope)
        return try checkOrder(operation, left, right, offset)
    }

    // MARK: Text

    mutating func checkText(
        _ comparison: ComparisonSyntax,
        _ left: Side,
        _ right: Side
    ) throws(LocatedProblem) -> CheckedCondition {
        let offset = comparison.offset
        try refuseUnlessText(right.type, offset)
        guard comparison.operation != .text else {
            throw LocatedProblem(
                .type,
                at: offset,
                "TEXT needs a full-text index, and there is none",
                remedy: "use CONTAINS or LIKE"
            )
        }
        let isPlain =
            right.constant != nil && left.property?.isOwnValue == true
            && (left.type == right.type || left.type == .mixed)
        return .comparison(
            CheckedComparison(
                operation: comparison.operation,
                ignoresCase: comparison.ignoresCase,
                left: left.index,
                right: right.index,
                form: isPlain ? .plain(left.type) : .general,
                offset: offset
            )
        )
    }

    private func refuseUnlessText(_ type: QueryType, _ offset: Int) throws(LocatedProblem) {
        switch type {
        case .string, .binary, .mixed: return
        case .int, .bool, .date, .float, .double, .decimal, .objectID, .uuid, .link, .kinds, .null:
            throw LocatedProblem(
                .type,
                at: offset,
                "the operator needs text or binary data on its right, not \(type.name)",
                remedy: "write a string"
            )
        }
    }

    func incomparable(
        _ left: QueryType,
        _ right: QueryType,
        _ offset: Int
    ) -> LocatedProblem {
        LocatedProblem(
            .type,
            at: offset,
            "\(left.name) cannot be compared with \(right.name)",
            remedy: "write a value of type \(left.name)"
        )
    }
}

extension CheckedProperty {
    /// Whether the operand is one value of the object itself.
    var isOwnValue: Bool {
        guard hops.isEmpty, part == .whole, suffix == nil, case .field(let field) = target else {
            return false
        }
        return field.collection == .single
    }
}

extension CheckedQuery {
    /// Whether an operand can have several values for one object.
    func hasManyValues(_ operand: CheckedOperand) -> Bool {
        switch operand {
        case .constant, .aggregate, .subquery: return false
        case .list: return true
        case .operation(_, let left, let right, _, _):
            return hasManyValues(operands[left]) || hasManyValues(operands[right])
        case .property(let property): return property.hasManyValues
        }
    }
}

extension CheckedProperty {
    var hasManyValues: Bool {
        if suffix == .objectCount { return false }
        if leadsToMany { return true }
        guard case .field(let field) = target, suffix != .size else { return false }
        switch part {
        case .whole, .length: return field.collection != .single
        case .keys: return false
        case .path(let indexes): return indexes.contains(.all)
        }
    }
}
