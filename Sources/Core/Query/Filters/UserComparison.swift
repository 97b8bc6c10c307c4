import Changesets
import JSON

/// A comparison of a filter that contains a value of the user.
struct UserComparison<Name: Hashable & Sendable>: Sendable {
    /// Its index among the conditions of the filter.
    let condition: Int
    /// Whether an odd number of negations is around it.
    let isNegated: Bool
    let form: Form

    enum Form: Sendable {
        /// A property beside a value: the index of the value's expression, and the property's type.
        case property(value: Int, Name, QueryType)
        /// A property that is IN a list of the user's.
        case membership(list: Int, Name, QueryType)
        /// No property: values of the user, or one and a constant.
        case values(UserOperand<Name>, UserOperand<Name>, ComparisonOperator)
    }

    var names: [Name] {
        switch form {
        case .property(_, let name, _), .membership(_, let name, _): [name]
        case .values(let left, let right, _): [left, right].compactMap(\.name)
        }
    }

    /// Puts in any value that has the type.
    func insertSample(into query: inout ParsedQuery) {
        switch form {
        case .property(let expression, _, let type):
            insert(UserConstant.sample(of: type), at: expression, of: &query)
        case .membership(let expression, _, let type):
            insert([UserConstant.sample(of: type)], at: expression, of: &query)
        case .values:
            decide(true, in: &query)
        }
    }

    func insert(
        _ value: (Name) -> JSONValue?,
        _ limits: FilterLimits,
        into query: inout ParsedQuery
    ) {
        switch form {
        case .property(let expression, let name, let type):
            guard
                let constant = value(name).flatMap({ UserConstant.value($0, as: type, limits) })
            else { return decide(isNegated, in: &query) }
            insert(constant, at: expression, of: &query)
        case .membership(let expression, let name, let type):
            guard let values = value(name).flatMap({ UserConstant.list($0, as: type, limits) })
            else { return decide(isNegated, in: &query) }
            // No list is written for none: the property is in an empty list of no object.
            guard !values.isEmpty else { return decide(false, in: &query) }
            insert(values, at: expression, of: &query)
        case .values(let left, let right, let operation):
            decide(UserOperand.compare(left, right, operation, value) ?? isNegated, in: &query)
        }
    }

    private func decide(_ isTrue: Bool, in query: inout ParsedQuery) {
        guard case .comparison(let comparison) = query.conditions[condition] else { return }
        query.conditions[condition] = .truth(isTrue, offset: comparison.offset)
        for side in [comparison.sides.left, comparison.sides.right] {
            insert(.null, at: side, of: &query)
        }
    }

    private func insert(_ value: QueryValue, at expression: Int, of query: inout ParsedQuery) {
        query.expressions[expression] = .constant(ConstantSyntax(literal: .value(value), offset: 0))
    }

    private func insert(_ values: [QueryValue], at expression: Int, of query: inout ParsedQuery) {
        let elements = values.map { ConstantSyntax(literal: .value($0), offset: 0) }
        query.expressions[expression] = .list(
            ListSyntax(quantifier: nil, elements: elements, offset: 0)
        )
    }
}

/// A side of a comparison without a property.
enum UserOperand<Name: Hashable & Sendable>: Sendable {
    case constant(JSONValue)
    case name(Name)

    var name: Name? {
        if case .name(let name) = self { name } else { nil }
    }

    private var isNull: Bool {
        if case .constant(.null) = self { true } else { false }
    }

    /// Nil if a value is missing that decides.
    static func compare(
        _ left: UserOperand,
        _ right: UserOperand,
        _ operation: ComparisonOperator,
        _ value: (Name) -> JSONValue?
    ) -> Bool? {
        let (first, second) = (left.value(value), right.value(value))
        switch operation {
        case .equal, .notEqual:
            if left.isNull || right.isNull {
                let isMissing = left.isNull ? second == nil : first == nil
                return isMissing == (operation == .equal)
            }
            guard let first, let second else { return nil }
            return (first == second) == (operation == .equal)
        case .in:
            guard let first, case .array(let elements)? = second else { return nil }
            return elements.contains(first)
        case .less, .lessOrEqual, .greater, .greaterOrEqual, .beginsWith, .endsWith, .contains,
            .like, .text:
            return nil
        }
    }

    /// Nil if it is missing or null.
    private func value(_ value: (Name) -> JSONValue?) -> JSONValue? {
        switch self {
        case .constant(.null): nil
        case .constant(let constant): constant
        case .name(let name): value(name)
        }
    }
}
