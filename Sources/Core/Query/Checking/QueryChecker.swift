package import Changesets
package import Schemas

/// Checks names and types of a query against a schema (flexible sync, 12.4).
package struct QueryChecker {
    let query: ParsedQuery
    let schema: RealmSchema
    var checked: CheckedQuery
    /// For each expression of the syntax, whether it is constant.
    let constancy: [Bool]

    /// - Parameter className: without the prefix of internal tables.
    package static func check(
        _ query: ParsedQuery,
        of className: Text,
        in schema: RealmSchema
    ) throws(QueryError) -> CheckedQuery {
        var checker = QueryChecker(
            query: query,
            schema: schema,
            checked: CheckedQuery(className: className, text: query.text),
            constancy: constancy(of: query)
        )
        do throws(LocatedProblem) {
            guard schema[className] != nil else {
                throw LocatedProblem(
                    .unknownName,
                    at: 0,
                    "there is no class \(className)",
                    remedy: "name a class of the schema"
                )
            }
            try checker.checkScopes()
            try checker.checkConditions()
            try checker.checkOrdering()
            return checker.checked
        } catch {
            throw error.located(in: query.text)
        }
    }

    // MARK: Scopes

    /// An enclosing scope comes before those in it.
    private mutating func checkScopes() throws(LocatedProblem) {
        for scope in query.scopes {
            guard let path = scope.path else {
                checked.scopes.append(
                    CheckedScope(
                        className: checked.className,
                        path: nil,
                        parent: 0,
                        depth: 0,
                        root: scope.root
                    )
                )
                continue
            }
            let property = try resolver(scope.parent)
                .resolve(PropertySyntax(quantifier: nil, path: path, suffix: nil))
            guard case .object(let className) = property.target,
                property.hops.last?.leadsToMany == true
            else {
                throw LocatedProblem(
                    .type,
                    at: path.offset,
                    "a subquery needs a list of links",
                    remedy: "name a list of links, or compare the property itself"
                )
            }
            checked.scopes.append(
                CheckedScope(
                    className: className,
                    path: property,
                    parent: scope.parent,
                    depth: checked.scopes[scope.parent].depth + 1,
                    root: scope.root
                )
            )
        }
    }

    func resolver(_ scope: Int) -> PathResolver {
        PathResolver(
            schema: schema,
            className: checked.scopes[scope].className,
            scope: scope,
            variable: query.scopes[scope].variable
        )
    }

    // MARK: Conditions

    private mutating func checkConditions() throws(LocatedProblem) {
        var isAbsorbed = [Bool](repeating: false, count: query.conditions.count)
        var isReordered = isAbsorbed
        isReordered[query.root] = true
        var parts: [Int: [Int]] = [:]
        // Parents come after their parts, so from the end each chain is reached at its top.
        for index in query.conditions.indices.reversed() {
            guard let (left, right, _) = query.conditions[index].operands else { continue }
            // After NOT and in subqueries the order is kept.
            isReordered[left] = isReordered[index]
            isReordered[right] = isReordered[index]
            guard !isAbsorbed[index] else { continue }
            parts[index] = isReordered[index] ? flattened(index, &isAbsorbed) : [left, right]
        }
        // Conditions keep their indexes; the parts of a split one are appended.
        checked.writtenConditions = query.conditions.count
        checked.conditions = [CheckedCondition](repeating: .absorbed, count: query.conditions.count)
        checked.operands.reserveCapacity(query.expressions.count)
        for (index, condition) in query.conditions.enumerated() where !isAbsorbed[index] {
            let condition = try check(condition, parts: parts[index] ?? [])
            checked.conditions[index] = condition
        }
        checked.root = query.root
    }

    /// The operands of a chain of equal connectives, in the order of the canonical text: from the
    /// left, an operand of the same kind is replaced by its own operands at the end (query as
    /// recorded, 4).
    private func flattened(_ index: Int, _ isAbsorbed: inout [Bool]) -> [Int] {
        guard let (left, right, isAnd) = query.conditions[index].operands else { return [] }
        var waiting = [left, right]
        var parts: [Int] = []
        var next = 0
        while next < waiting.count {
            let part = waiting[next]
            next += 1
            if let (left, right, partIsAnd) = query.conditions[part].operands, partIsAnd == isAnd {
                isAbsorbed[part] = true
                waiting += [left, right]
            } else {
                parts.append(part)
            }
        }
        return parts
    }

    private mutating func check(
        _ condition: ConditionSyntax,
        parts: [Int]
    ) throws(LocatedProblem) -> CheckedCondition {
        switch condition {
        case .truth(let isTrue, _): return .truth(isTrue)
        case .not(let operand): return .not(operand)
        case .and: return .all(parts)
        case .or: return .any(parts)
        case .comparison(let comparison): return try check(comparison)
        case .between(let sides, let offset, let scope):
            return try checkBetween(sides, offset, scope)
        case .geoWithin(_, let offset, _):
            throw LocatedProblem(
                .type,
                at: offset,
                "GEOWITHIN is not supported",
                remedy: "compare properties for longitude and latitude"
            )
        }
    }

    private mutating func check(
        _ comparison: ComparisonSyntax
    ) throws(LocatedProblem) -> CheckedCondition {
        let (left, right) = try checkSides(comparison.sides, comparison.offset, comparison.scope)
        if comparison.operation.isForText {
            return try checkText(comparison, left, right)
        }
        if comparison.operation.isOrder {
            return try checkOrder(comparison.operation, left, right, comparison.offset)
        }
        return try checkEquality(comparison, left, right)
    }

    /// Appends an operand, and returns its index.
    mutating func keep(_ operand: CheckedOperand) -> Int {
        checked.operands.append(operand)
        return checked.operands.count - 1
    }

    mutating func keep(_ condition: CheckedCondition) -> Int {
        checked.conditions.append(condition)
        return checked.conditions.count - 1
    }

    static func missingArgument(_ number: Int, _ offset: Int) -> LocatedProblem {
        LocatedProblem(
            .argument,
            at: offset,
            "there is no argument \(number)",
            remedy: "write the value in place of the argument"
        )
    }

    // MARK: SORT, DISTINCT, LIMIT

    private mutating func checkOrdering() throws(LocatedProblem) {
        // Of consecutive sorts the last one is the first criterion.
        var sorts: [([CheckedProperty], [Bool])] = []
        for (index, ordering) in query.ordering.enumerated() {
            switch ordering {
            case .sort(let paths, let ascending, _):
                sorts.append((try resolve(paths), ascending))
            case .distinct(let paths, _):
                checked.ordering.append(.distinct(try resolve(paths)))
            case .limit(let count, _):
                checked.ordering.append(.limit(Int(clamping: count)))
            }
            let next = index + 1 < query.ordering.count ? query.ordering[index + 1] : nil
            if case .sort = next { continue }
            guard !sorts.isEmpty else { continue }
            checked.ordering.append(
                .sort(
                    sorts.reversed().flatMap(\.0),
                    ascending: sorts.reversed().flatMap(\.1)
                )
            )
            sorts = []
        }
    }

    private func resolve(
        _ paths: [PathSyntax]
    ) throws(LocatedProblem) -> [CheckedProperty] {
        var properties: [CheckedProperty] = []
        for path in paths {
            let property = try resolver(0)
                .resolve(PropertySyntax(quantifier: nil, path: path, suffix: nil))
            let isMany = property.hops.contains(where: \.leadsToMany)
            guard !isMany, property.isSingleField || property.isSingleLink else {
                throw LocatedProblem(
                    .type,
                    at: path.offset,
                    "the order cannot follow a collection",
                    remedy: "name a property with one value"
                )
            }
            properties.append(property)
        }
        return properties
    }
}

extension ConditionSyntax {
    /// The operands of AND or OR.
    fileprivate var operands: (left: Int, right: Int, isAnd: Bool)? {
        switch self {
        case .and(let left, let right): (left, right, true)
        case .or(let left, let right): (left, right, false)
        case .truth, .not, .comparison, .between, .geoWithin: nil
        }
    }
}

extension CheckedProperty {
    fileprivate var isSingleField: Bool {
        guard case .field(let field) = target else { return false }
        if field.collection == .single { return true }
        if case .path = part { return true }
        return false
    }

    fileprivate var isSingleLink: Bool {
        if case .object = target { true } else { false }
    }
}
