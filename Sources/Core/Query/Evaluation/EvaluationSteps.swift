/// Counts the work of an evaluation for one object, and stops it: one step for each value that is compared, and
/// for each byte of text that is searched.
struct EvaluationSteps {
    private var left: Int

    init(limit: Int) {
        left = limit
    }

    var areUsedUp: Bool { left < 0 }

    /// Returns false if none is left.
    @discardableResult
    mutating func count(_ steps: Int) -> Bool {
        left = max(-1, left - steps)
        return left >= 0
    }

    /// A value that is looked up or compared.
    mutating func count(_ value: QueryValue) -> Bool {
        count(1 + (value.bytes?.count ?? 0))
    }

    /// Before two sides are compared: each value of one with each of the other.
    mutating func count(
        _ left: ValueSequence,
        _ right: ValueSequence,
        _ comparison: CheckedComparison
    ) -> Bool {
        // Values of most objects are short, and come alone.
        if !left.isList, !right.isList {
            guard let left = left.values.first, let right = right.values.first else {
                return count(1)
            }
            return count(Self.steps(left, right, comparison))
        }
        // Each text is compared with each value of the other side. Objects choose the numbers: no product
        // of them may overflow.
        let counts = (Double(left.values.count), Double(right.values.count))
        let texts = Self.size(left) * counts.1 + Self.size(right) * counts.0
        let work = 1 + counts.0 * counts.1 + Double(Self.weight(of: comparison, right)) * texts
        return count(work < Self.largest ? Int(work) : .max)
    }

    private static let largest = Double(1 << 50)

    private static func steps(
        _ left: QueryValue,
        _ right: QueryValue,
        _ comparison: CheckedComparison
    ) -> Int {
        guard comparison.operation.isForText || comparison.ignoresCase else { return 1 }
        let (text, pattern) = (left.bytes?.count ?? 0, right.bytes?.count ?? 0)
        return 1 + pattern + text * weight(pattern, comparison)
    }

    /// The searches for `?` compare 64 characters of the pattern in one step.
    private static func weight(_ pattern: Int, _ comparison: CheckedComparison) -> Int {
        comparison.operation == .like ? 1 + pattern / 64 : 1
    }

    private static func weight(of comparison: CheckedComparison, _ right: ValueSequence) -> Int {
        weight(right.values.lazy.map { $0.bytes?.count ?? 0 }.max() ?? 0, comparison)
    }

    private static func size(_ side: ValueSequence) -> Double {
        side.values.reduce(0) { $0 + Double($1.bytes?.count ?? 0) }
    }
}
