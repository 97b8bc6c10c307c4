import Changesets

/// Comparing two values of any types (flexible sync, 12.5; query as recorded, 38).
enum MixedRules {
    static func holds(
        _ operation: ComparisonOperator,
        _ left: QueryValue,
        _ right: QueryValue
    ) -> Bool {
        switch operation {
        case .equal, .in: return areEqual(left, right)
        case .notEqual: return !areEqual(left, right)
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            if left == .null || right == .null {
                return left == right && operation != .less && operation != .greater
            }
            return order(left, right).map { operation.accepts($0) } ?? false
        case .beginsWith, .endsWith, .contains, .like, .text:
            return TextRules.holds(operation, left, right, ignoresCase: false)
        }
    }

    static func areEqual(_ left: QueryValue, _ right: QueryValue) -> Bool {
        switch (left, right) {
        case (.null, .null): return true
        case (.kinds(let left), .kinds(let right)): return !left.isDisjoint(with: right)
        default: return order(left, right) == .equal
        }
    }

    /// Nil if the values have no order, for example if one is null.
    static func order(_ left: QueryValue, _ right: QueryValue) -> QueryOrder? {
        switch (left, right) {
        case (.int(let left), .int(let right)): return QueryOrder(left, right)
        case (.bool(let left), .bool(let right)): return QueryOrder(left ? 1 : 0, right ? 1 : 0)
        case (.string(let left), .string(let right)), (.binary(let left), .binary(let right)):
            return bytewiseOrder(left, right)
        case (.date(let left), .date(let right)): return QueryOrder(left, right)
        case (.objectID(let left), .objectID(let right)): return QueryOrder(left, right)
        case (.uuid(let left), .uuid(let right)): return QueryOrder(left, right)
        case (.link(let left), .link(let right)): return left == right ? .equal : nil
        case (.nested(let left, _), .nested(let right, _)): return left == right ? .equal : nil
        default: return NumberRules.order(left, right)
        }
    }

    /// Null first, and values of different kinds by their kinds.
    static func totalOrder(_ left: QueryValue, _ right: QueryValue) -> QueryOrder {
        order(left, right) ?? QueryOrder(left.rank, right.rank)
    }

    static func bytewiseOrder(_ left: [UInt8], _ right: [UInt8]) -> QueryOrder {
        if left == right { return .equal }
        return left.lexicographicallyPrecedes(right) ? .less : .greater
    }
}

extension ComparisonOperator {
    /// Whether an operator of order holds for values in this order.
    func accepts(_ order: QueryOrder) -> Bool {
        switch self {
        case .less: order == .less
        case .lessOrEqual: order != .greater
        case .greater: order == .greater
        case .greaterOrEqual: order != .less
        case .equal, .in: order == .equal
        case .notEqual: order != .equal
        case .beginsWith, .endsWith, .contains, .like, .text: false
        }
    }
}

extension QueryValue {
    fileprivate var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .int, .float, .double, .decimal: 2
        case .string: 3
        case .binary: 4
        case .date: 5
        case .objectID: 6
        case .uuid: 7
        case .link: 8
        case .kinds: 9
        case .nested: 10
        }
    }
}
