/// A property of the object itself against a constant of its type: what the reference does there and
/// nowhere else (query as recorded, 2, 3 and 33).
enum PlainRules {
    static func holds(
        _ operation: ComparisonOperator,
        _ value: QueryValue,
        _ constant: QueryValue,
        ignoresCase: Bool
    ) -> Bool {
        if operation.isForText {
            if constant == .null { return holdsForNullNeedle(operation, value, ignoresCase) }
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

    /// BEGINSWITH, ENDSWITH and CONTAINS of NULL match everything, LIKE matches null.
    private static func holdsForNullNeedle(
        _ operation: ComparisonOperator,
        _ value: QueryValue,
        _ ignoresCase: Bool
    ) -> Bool {
        if operation == .like { return value == .null }
        if operation == .contains, ignoresCase, case .binary = value { return true }
        return true
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
