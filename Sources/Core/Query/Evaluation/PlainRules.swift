/// A property of the object itself against a constant of its type: rules of the reference for this
/// case only (query as recorded, 2, 3 and 33).
enum PlainRules {
    static func holds(
        _ operation: ComparisonOperator,
        _ value: QueryValue,
        _ constant: QueryValue,
        ignoresCase: Bool,
        type: QueryType
    ) -> Bool {
        if type == .mixed {
            return ignoresCase
                ? TextRules.holds(operation, value, constant, ignoresCase: true)
                : MixedRules.holds(operation, value, constant)
        }
        if type == .string, operation.isOrder {
            return operation.accepts(order(value, constant))
        }
        if operation.isForText {
            if constant == .null { return holdsForNullNeedle(operation, value, ignoresCase, type) }
            return TextRules.holds(operation, value, constant, ignoresCase: ignoresCase)
        }
        switch (value, constant) {
        case (.float(let value), .float(let constant)):
            return IEEERules.holds(operation, value, constant)
        case (.double(let value), .double(let constant)):
            return IEEERules.holds(operation, value, constant)
        default: break
        }
        if ignoresCase { return TextRules.holds(operation, value, constant, ignoresCase: true) }
        return MixedRules.holds(operation, value, constant)
    }

    /// Null is smaller than every string.
    private static func order(_ left: QueryValue, _ right: QueryValue) -> QueryOrder {
        if left == .null || right == .null {
            return QueryOrder(left == .null ? 0 : 1, right == .null ? 0 : 1)
        }
        return MixedRules.order(left, right) ?? .equal
    }

    /// BEGINSWITH, ENDSWITH and CONTAINS of NULL match everything, LIKE matches null.
    private static func holdsForNullNeedle(
        _ operation: ComparisonOperator,
        _ value: QueryValue,
        _ ignoresCase: Bool,
        _ type: QueryType
    ) -> Bool {
        if operation == .like { return value == .null }
        // On binary data, CONTAINS[c] of NULL matches what is not null.
        return !(type == .binary && operation == .contains && ignoresCase) || value != .null
    }
}

/// Floating-point numbers as IEEE 754 compares them: NaN equals nothing and has no order.
enum IEEERules {
    static func holds<Number: BinaryFloatingPoint>(
        _ operation: ComparisonOperator,
        _ left: Number,
        _ right: Number
    ) -> Bool {
        switch operation {
        case .equal, .in: left == right
        case .notEqual: left != right
        case .less: left < right
        case .lessOrEqual: left <= right
        case .greater: left > right
        case .greaterOrEqual: left >= right
        case .beginsWith, .endsWith, .contains, .like, .text: false
        }
    }
}
