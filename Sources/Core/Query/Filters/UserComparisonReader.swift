import Changesets
import JSON
import Schemas

/// Finds the values of a user in a filter, and checks how it uses them.
struct UserComparisonReader<Name: Hashable & Sendable> {
    let query: ParsedQuery
    let schema: RealmSchema
    let className: Text
    let known: String
    let name: (String) -> Name?

    func comparisons() throws(LocatedProblem) -> [UserComparison<Name>] {
        try refuseOtherUses()
        let isNegated = negations()
        var comparisons: [UserComparison<Name>] = []
        for (index, condition) in query.conditions.enumerated() {
            guard case .comparison(let comparison) = condition,
                let form = try form(of: comparison)
            else { continue }
            comparisons.append(
                UserComparison(condition: index, isNegated: isNegated[index], form: form)
            )
        }
        return comparisons
    }

    /// For each condition, whether an odd number of negations is around it. Parents come after their
    /// parts.
    private func negations() -> [Bool] {
        var isNegated = [Bool](repeating: false, count: query.conditions.count)
        for index in query.conditions.indices.reversed() {
            switch query.conditions[index] {
            case .not(let part): isNegated[part] = !isNegated[index]
            case .and(let left, let right), .or(let left, let right):
                isNegated[left] = isNegated[index]
                isNegated[right] = isNegated[index]
            case .truth, .comparison, .between, .geoWithin: continue
            }
        }
        return isNegated
    }

    // MARK: One comparison

    private func form(
        of comparison: ComparisonSyntax
    ) throws(LocatedProblem) -> UserComparison<Name>.Form? {
        let (left, right) = (comparison.sides.left, comparison.sides.right)
        switch (try userName(left), try userName(right)) {
        case (nil, nil): return nil
        case (let first?, let second?):
            return try values(.name(first), .name(second), comparison)
        case (let value?, nil):
            if let constant = try constant(right, comparison) {
                return try values(.name(value), .constant(constant), comparison)
            }
            return .property(value: left, value, try type(beside: right, comparison))
        case (nil, let value?):
            if let constant = try constant(left, comparison) {
                return try values(.constant(constant), .name(value), comparison)
            }
            let type = try type(beside: left, comparison)
            guard comparison.operation == .in else {
                return .property(value: right, value, type)
            }
            return .membership(list: right, value, type)
        }
    }

    private func values(
        _ left: UserOperand<Name>,
        _ right: UserOperand<Name>,
        _ comparison: ComparisonSyntax
    ) throws(LocatedProblem) -> UserComparison<Name>.Form {
        switch comparison.operation {
        case .equal, .notEqual, .in:
            guard !comparison.ignoresCase else { fallthrough }
            return .values(left, right, comparison.operation)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .contains,
            .like, .text:
            throw LocatedProblem(
                .type,
                at: comparison.offset,
                "values of the user are only compared with each other by ==, != and IN",
                remedy: "compare a property of \(className)"
            )
        }
    }

    /// The constant that is this side; nil if it is something else.
    private func constant(
        _ expression: Int,
        _ comparison: ComparisonSyntax
    ) throws(LocatedProblem) -> JSONValue? {
        guard case .constant(let constant) = query.expressions[expression] else { return nil }
        if case .value(let value) = constant.literal {
            switch value {
            case .null: return .null
            case .bool(let value): return .bool(value)
            case .int(let value): return .integer(value)
            case .string(let bytes): return .string(String(decoding: bytes, as: UTF8.self))
            default: break
            }
        }
        throw LocatedProblem(
            .type,
            at: constant.offset,
            "a value of the user cannot be compared with this constant",
            remedy: "use text, a whole number, true, false or NULL"
        )
    }

    /// The type that the value takes from the property on the other side.
    private func type(
        beside expression: Int,
        _ comparison: ComparisonSyntax
    ) throws(LocatedProblem) -> QueryType {
        guard case .property(let syntax) = query.expressions[expression] else {
            throw LocatedProblem(
                .type,
                at: comparison.offset,
                "a value of the user is not compared with a property",
                remedy: "compare it with a property of \(className), or with a constant"
            )
        }
        guard comparison.operation.isForUserValues else {
            throw LocatedProblem(
                .type,
                at: comparison.offset,
                "a text of the user's choice could match everything here",
                remedy: "use ==, !=, IN, <, <=, > or >="
            )
        }
        let property = try PathResolver(
            schema: schema,
            className: className,
            scope: 0,
            variable: .empty
        ).resolve(syntax)
        guard UserConstant.canHave(property.type) else {
            throw LocatedProblem(
                .type,
                at: comparison.offset,
                "a value of the user has no type that compares with \(property.type.name)",
                remedy: "compare a property for text, numbers, booleans or ids"
            )
        }
        return property.type
    }

    // MARK: Names

    /// The name that is this side; nil if it is something else.
    private func userName(_ expression: Int) throws(LocatedProblem) -> Name? {
        guard case .property(let property) = query.expressions[expression],
            property.path.isOfUser
        else { return nil }
        let words = property.path.elements.map { element -> String? in
            if case .name(let text) = element { text.description } else { nil }
        }
        let word = words.contains(nil) ? "" : words.compactMap(\.self).joined(separator: ".")
        guard property.quantifier == nil, property.suffix == nil,
            let name = name(String(word.dropFirst()))
        else {
            throw LocatedProblem(
                .unknownName,
                at: property.path.offset,
                "this value of the user is unknown",
                remedy: "use \(known)"
            )
        }
        return name
    }

    /// The indexes of all values of the user.
    func userExpressions() throws(LocatedProblem) -> [Int] {
        var indexes: [Int] = []
        for index in query.expressions.indices where try userName(index) != nil {
            indexes.append(index)
        }
        return indexes
    }

    /// A value of the user is a side of a comparison, and nothing else.
    private func refuseOtherUses() throws(LocatedProblem) {
        var sides: Set<Int> = []
        for case .comparison(let comparison) in query.conditions {
            sides.formUnion([comparison.sides.left, comparison.sides.right])
        }
        for (index, expression) in query.expressions.enumerated() where !sides.contains(index) {
            guard case .property(let property) = expression, property.path.isOfUser else {
                continue
            }
            throw LocatedProblem(
                .type,
                at: property.path.offset,
                "a value of the user can only be a side of a comparison",
                remedy: "compare it with a property of \(className), or with a constant"
            )
        }
    }
}

extension PathSyntax {
    fileprivate var isOfUser: Bool { elements.first == .name("$user") }
}

extension ComparisonOperator {
    /// Patterns are left out: a user whose text is empty, or `*`, would match every object.
    fileprivate var isForUserValues: Bool {
        switch self {
        case .equal, .notEqual, .in, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        case .beginsWith, .endsWith, .contains, .like, .text: false
        }
    }
}
