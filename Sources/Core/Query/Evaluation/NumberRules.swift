/// Numbers of any types by their values: NaN equals NaN of the same bits and is smaller than every other number (query as
/// recorded, 3 and 38).
enum NumberRules {
    /// Nil unless both are numbers.
    static func order(_ left: QueryValue, _ right: QueryValue) -> QueryOrder? {
        switch (left, right) {
        case (.int(let left), .int(let right)): return QueryOrder(left, right)
        case (.int(let left), .float(let right)): return order(left, Double(right))
        case (.int(let left), .double(let right)): return order(left, right)
        case (.float(let left), .int(let right)): return order(right, Double(left)).reversed
        case (.double(let left), .int(let right)): return order(right, left).reversed
        case (.float(let left), .float(let right)): return order(Double(left), Double(right))
        case (.float(let left), .double(let right)): return order(Double(left), right)
        case (.double(let left), .float(let right)): return order(left, Double(right))
        case (.double(let left), .double(let right)): return order(left, right)
        default:
            guard let left = decimal(left), let right = decimal(right) else { return nil }
            return left.order(to: right)
        }
    }

    static func decimal(_ value: QueryValue) -> DecimalNumber? {
        switch value {
        case .int(let value): DecimalNumber(value)
        case .float(let value): DecimalNumber(value)
        case .double(let value): DecimalNumber(value)
        case .decimal(let value): value
        case .null, .bool, .string, .binary, .date, .objectID, .uuid, .link, .kinds, .nested: nil
        }
    }

    private static func order(_ left: Double, _ right: Double) -> QueryOrder {
        if left.isNaN, right.isNaN {
            return QueryOrder(left.bitPattern, right.bitPattern)
        }
        if left.isNaN || right.isNaN { return left.isNaN ? .less : .greater }
        return QueryOrder(left, right)
    }

    /// Exactly, not by rounding the whole number.
    private static func order(_ left: Int64, _ right: Double) -> QueryOrder {
        if right.isNaN { return .greater }
        if right >= 0x1p63 { return .less }
        if right < -0x1p63 { return .greater }
        let whole = right.rounded(.towardZero)
        let order = QueryOrder(left, Int64(whole))
        guard order == .equal else { return order }
        return QueryOrder(whole, right)
    }
}
