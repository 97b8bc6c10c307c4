/// Arithmetic on values (query as recorded, 6).
enum Arithmetic {
    /// One operand may be a list: then each element is computed with the other one.
    static func compute(
        _ operation: ArithmeticOperator,
        _ left: ValueSequence,
        _ right: ValueSequence
    ) -> ValueSequence {
        if !left.isList, !right.isList {
            guard let left = left.values.first, let right = right.values.first else {
                return ValueSequence([], isList: false)
            }
            return ValueSequence(compute(operation, left, right))
        }
        if left.isList, let right = right.values.first {
            return ValueSequence(
                left.values.map { compute(operation, $0, right) },
                isList: true
            )
        }
        guard let left = left.values.first else { return ValueSequence([], isList: true) }
        return ValueSequence(right.values.map { compute(operation, left, $0) }, isList: true)
    }

    /// Null unless both are numbers. The result has the wider type of int, float, double and
    /// decimal.
    static func compute(
        _ operation: ArithmeticOperator,
        _ left: QueryValue,
        _ right: QueryValue
    ) -> QueryValue {
        guard left.isNumber, right.isNumber else { return .null }
        switch (left, right) {
        case (.int(let left), .int(let right)):
            return .int(compute(operation, left, right))
        case (.decimal, _), (_, .decimal):
            guard let left = NumberRules.decimal(left), let right = NumberRules.decimal(right)
            else {
                return .null
            }
            return .decimal(compute(operation, left, right))
        case (.double, _), (_, .double):
            guard let left = double(left), let right = double(right) else { return .null }
            return .double(compute(operation, left, right))
        default:
            guard let left = float(left), let right = float(right) else { return .null }
            return .float(compute(operation, left, right))
        }
    }

    /// Wraps on overflow. Divided by zero, a negative number gives the smallest and any other the
    /// largest one.
    private static func compute(
        _ operation: ArithmeticOperator,
        _ left: Int64,
        _ right: Int64
    ) -> Int64 {
        switch operation {
        case .plus: left &+ right
        case .minus: left &- right
        case .times: left &* right
        case .dividedBy:
            right == 0
                ? left < 0 ? .min : .max
                : left.dividedReportingOverflow(by: right).partialValue
        }
    }

    private static func compute<Number: BinaryFloatingPoint>(
        _ operation: ArithmeticOperator,
        _ left: Number,
        _ right: Number
    ) -> Number {
        switch operation {
        case .plus: left + right
        case .minus: left - right
        case .times: left * right
        case .dividedBy: left / right
        }
    }

    private static func compute(
        _ operation: ArithmeticOperator,
        _ left: DecimalNumber,
        _ right: DecimalNumber
    ) -> DecimalNumber {
        switch operation {
        case .plus: left + right
        case .minus: left - right
        case .times: left * right
        case .dividedBy: left / right
        }
    }

    private static func double(_ value: QueryValue) -> Double? {
        switch value {
        case .int(let value): Double(value)
        case .float(let value): Double(value)
        case .double(let value): value
        default: nil
        }
    }

    private static func float(_ value: QueryValue) -> Float? {
        switch value {
        case .int(let value): Float(value)
        case .float(let value): value
        default: nil
        }
    }
}
