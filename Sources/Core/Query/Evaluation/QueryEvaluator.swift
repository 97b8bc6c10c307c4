/// Decides whether objects match a query (flexible sync, 12.5; query as recorded, 31 to 44).
package struct QueryEvaluator: Sendable {
    let query: CheckedQuery
    /// One for each scope.
    private let programs: [QueryProgram]
    /// The constants of `isOneOf`, by the index of the condition.
    private let memberships: [Int: Set<QueryValue>]
    private let stepLimit: Int

    /// The usual limit on the work for one object. A client chooses both the query and the object.
    package static let stepsPerObject = 32 << 20

    /// - Parameter stepLimit: an object for which more values and bytes of text must be compared does not
    ///   match: the result depends on the object and the query alone.
    package init(_ query: CheckedQuery, stepLimit: Int = Self.stepsPerObject) {
        self.query = query
        self.stepLimit = stepLimit
        self.programs = query.scopes.map { QueryProgram(query, root: $0.root) }
        var memberships: [Int: Set<QueryValue>] = [:]
        for (index, condition) in query.conditions.enumerated() {
            if case .isOneOf(_, let values, _) = condition { memberships[index] = Set(values) }
        }
        self.memberships = memberships
    }

    /// Whether the object matches. SORT, DISTINCT and LIMIT are not applied: see `QueryOrdering`.
    package func matches(_ object: some QueryableObject) -> Bool {
        var steps = EvaluationSteps(limit: stepLimit)
        let isMatch = matches(object, scope: 0, &steps)
        return isMatch && !steps.areUsedUp
    }

    private func matches(
        _ object: any QueryableObject,
        scope: Int,
        _ steps: inout EvaluationSteps
    ) -> Bool {
        programs[scope].run { test($0, object, &steps) }
    }

    private func test(
        _ index: Int,
        _ object: any QueryableObject,
        _ steps: inout EvaluationSteps
    ) -> Bool {
        // What is left is short: one jump for each condition.
        guard !steps.areUsedUp else { return false }
        switch query.conditions[index] {
        case .truth(let isTrue):
            return isTrue
        case .comparison(let comparison):
            return test(comparison, object, &steps)
        case .isOneOf(let operand, _, _):
            let value = values(of: operand, object, &steps).values.first
            guard let value, steps.count(value) else { return false }
            return memberships[index]?.contains(value) == true
        case .between(let operand, let lowest, let highest, _):
            let value = values(of: operand, object, &steps).values.first
            guard let value, steps.count(value) else { return false }
            return MixedRules.holds(.greaterOrEqual, value, lowest)
                && MixedRules.holds(.lessOrEqual, value, highest)
        case .not, .all, .any, .absorbed:
            preconditionFailure("a program tests single conditions only")
        }
    }

    private func test(
        _ comparison: CheckedComparison,
        _ object: any QueryableObject,
        _ steps: inout EvaluationSteps
    ) -> Bool {
        let left = values(of: comparison.left, object, &steps)
        let right = values(of: comparison.right, object, &steps)
        guard steps.count(left, right, comparison) else { return false }
        if case .plain(let type) = comparison.form, let value = left.values.first,
            let constant = right.values.first
        {
            return PlainRules.holds(
                comparison.operation,
                value,
                constant,
                ignoresCase: comparison.ignoresCase,
                type: type
            )
        }
        let rule = PairRule(
            operation: comparison.operation,
            ignoresCase: comparison.ignoresCase
        )
        return rule.holds(
            left,
            quantifier(of: comparison.left),
            right,
            quantifier(of: comparison.right)
        )
    }

    private func quantifier(of operand: Int) -> Quantifier? {
        switch query.operands[operand] {
        case .list(_, let quantifier, _), .operation(_, _, _, let quantifier, _): quantifier
        case .property(let property): property.quantifier
        case .constant, .aggregate, .subquery: nil
        }
    }

    // MARK: Operands

    private func values(
        of operand: Int,
        _ object: any QueryableObject,
        _ steps: inout EvaluationSteps
    ) -> ValueSequence {
        guard case .operation = query.operands[operand] else {
            return valuesOfLeaf(operand, object, &steps)
        }
        var tasks: [Work] = [.evaluate(operand)]
        var results: [ValueSequence] = []
        while let task = tasks.popLast() {
            switch task {
            case .evaluate(let index):
                if case .operation(let operation, let left, let right, _, _) = query.operands[index]
                {
                    tasks.append(.compute(operation))
                    tasks.append(.evaluate(right))
                    tasks.append(.evaluate(left))
                } else {
                    results.append(valuesOfLeaf(index, object, &steps))
                }
            case .compute(let operation):
                let right = results.removeLast()
                let left = results.removeLast()
                steps.count(left.values.count + right.values.count)
                results.append(Arithmetic.compute(operation, left, right))
            }
        }
        return results[0]
    }

    private enum Work {
        case evaluate(Int)
        case compute(ArithmeticOperator)
    }

    private func valuesOfLeaf(
        _ operand: Int,
        _ object: any QueryableObject,
        _ steps: inout EvaluationSteps
    ) -> ValueSequence {
        switch query.operands[operand] {
        case .constant(let constant): return ValueSequence(constant.value)
        case .list(let values, _, _): return ValueSequence(values, isList: true)
        case .property(let property):
            return PropertyReader(property).read(object)
        case .aggregate(let aggregate):
            let values = PropertyReader(aggregate.property).read(object).values
            return ValueSequence(Aggregation.compute(aggregate, values))
        case .subquery(let scope):
            guard let path = query.scopes[scope].path else { return ValueSequence(.int(0)) }
            let matching = PropertyReader(path).objects(object).count {
                matches($0, scope: scope, &steps)
            }
            return ValueSequence(.int(Int64(matching)))
        case .operation:
            preconditionFailure("operations are computed from their parts")
        }
    }
}
