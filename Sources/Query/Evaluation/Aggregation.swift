/// `@max`, `@min`, `@sum` and `@avg` (query as recorded, 44). Subscriptions may not use them.
enum Aggregation {
    static func compute(_ aggregate: CheckedAggregate, _ values: [QueryValue]) -> QueryValue {
        let known = values.filter { $0 != .null && !$0.isNotANumber }
        switch aggregate.function {
        case .max: return extreme(known, .greater)
        case .min: return extreme(known, .less)
        case .sum: return sum(known, aggregate.type)
        case .average: return average(known, aggregate.type)
        }
    }

    private static func extreme(_ values: [QueryValue], _ wanted: QueryOrder) -> QueryValue {
        values.reduce(.null) { best, value in
            if best == .null { return value }
            return MixedRules.order(value, best) == wanted ? value : best
        }
    }

    private static func zero(_ type: QueryType) -> QueryValue {
        switch type {
        case .int: .int(0)
        case .float, .double: .double(0)
        default: .decimal(DecimalNumber(Int64(0)))
        }
    }

    private static func sum(_ values: [QueryValue], _ type: QueryType) -> QueryValue {
        values.filter(\.isNumber).reduce(zero(type)) { Arithmetic.compute(.plus, $0, $1) }
    }

    private static func average(_ values: [QueryValue], _ type: QueryType) -> QueryValue {
        let numbers = values.filter(\.isNumber)
        guard !numbers.isEmpty else { return .null }
        return Arithmetic.compute(.dividedBy, sum(numbers, type), .int(Int64(numbers.count)))
    }
}

extension QueryValue {
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
