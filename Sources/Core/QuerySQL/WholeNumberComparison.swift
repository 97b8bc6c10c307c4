import Query

/// A comparison of whole numbers with a number of any type, as one with a whole number.
enum WholeNumberComparison {
    case constant(Bool)
    case compared(String, Int64)

    /// Nil for a constant that needs the evaluator.
    init?(_ comparison: OutlinedComparison) {
        guard let sign = comparison.operation.sign else { return nil }
        switch comparison.constants[0] {
        case .null: self = .constant(comparison.holds(.int(0)))
        case .int(let limit): self = .compared(sign, limit)
        case .float(let limit): self.init(comparison, sign, Double(limit))
        case .double(let limit): self.init(comparison, sign, limit)
        default: return nil
        }
    }

    private init(_ comparison: OutlinedComparison, _ sign: String, _ limit: Double) {
        // NaN, infinities and other numbers outside compare alike with all whole numbers.
        guard limit >= -0x1p63, limit < 0x1p63 else {
            self = .constant(comparison.holds(.int(0)))
            return
        }
        let whole = limit.rounded(.down)
        guard whole != limit else {
            self = .compared(sign, Int64(whole))
            return
        }
        switch comparison.operation {
        case .less, .lessOrEqual: self = .compared("<=", Int64(whole))
        case .greater, .greaterOrEqual: self = .compared(">", Int64(whole))
        default: self = .constant(comparison.operation == .notEqual)
        }
    }
}
