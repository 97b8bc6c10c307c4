import Changesets

/// `@max`, `@min`, `@sum` and `@avg` (query as recorded, 44). Subscriptions may not use them.
enum Aggregation {
    static func compute(_ aggregate: CheckedAggregate, _ values: [QueryValue]) -> QueryValue {
        let isDictionary =
            if case .field(let field) = aggregate.property.target {
                field.collection == .dictionary
            } else {
                false
            }
        let known = values.filter { $0 != .null }
        let ordered = known.filter { !$0.isNotANumber }
        let isMixed = aggregate.type == .mixed
        let numbers = (isMixed ? known.filter { !$0.isDecimalNaN } : ordered).filter(\.isNumber)
        // NaN only counts among values of Mixed and the floating-point values of a dictionary.
        let isOfFloats =
            isMixed || isDictionary && (aggregate.type == .float || aggregate.type == .double)
        switch aggregate.function {
        case .max: return extreme(isOfFloats ? known : ordered, .greater)
        case .min: return extreme(isOfFloats ? known : ordered, .less)
        case .sum: return sum(numbers, zero(aggregate.type))
        case .average:
            guard !numbers.isEmpty else { return .null }
            let sum = sum(numbers, aggregate.type == .int ? .double(0) : zero(aggregate.type))
            return Arithmetic.compute(.dividedBy, sum, .int(Int64(numbers.count)))
        }
    }

    private static func extreme(_ values: [QueryValue], _ wanted: QueryOrder) -> QueryValue {
        values.reduce(.null) { best, value in
            if best == .null { return value }
            return MixedRules.totalOrder(value, best) == wanted ? value : best
        }
    }

    private static func sum(_ numbers: [QueryValue], _ zero: QueryValue) -> QueryValue {
        numbers.reduce(zero) { Arithmetic.compute(.plus, $0, $1) }
    }

    private static func zero(_ type: QueryType) -> QueryValue {
        switch type {
        case .int: .int(0)
        case .float, .double: .double(0)
        default: .decimal(DecimalNumber(Int64(0)))
        }
    }
}

extension QueryValue {
    fileprivate var isDecimalNaN: Bool {
        if case .decimal(let value) = self { value.kind == .notANumber } else { false }
    }

    fileprivate var isNotANumber: Bool {
        switch self {
        case .float(let value): value.isNaN
        case .double(let value): value.isNaN
        case .decimal(let value): value.kind == .notANumber
        case .null, .bool, .int, .string, .binary, .date, .objectID, .uuid, .link, .kinds, .nested:
            false
        }
    }
}
