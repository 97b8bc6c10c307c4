import Query

/// Walks through a query: NOT is pushed down to the comparisons, so that AND and OR above them need
/// no care for NULL, and indexes serve both.
struct ConditionTranslator {
    private let outline: QueryOutline
    private var comparisons: ComparisonTranslator
    private var budget = Self.mostComparisons

    /// More comparisons, or deeper ones, are left to the evaluator: SQLite's expressions have at most
    /// 1000 levels, and its parser a stack of 100.
    private static let mostComparisons = 400
    private static let deepestNesting = 12

    init(_ outline: QueryOutline, _ text: SQLText) {
        self.outline = outline
        self.comparisons = ComparisonTranslator(text: text)
    }

    mutating func condition(_ bound: Bound) -> SQLCondition {
        let piece = translate(outline.root, isNegated: false, bound, depth: 0)
        return SQLCondition(text: piece.text, parameters: comparisons.text.parameters)
    }

    private mutating func translate(
        _ node: Int,
        isNegated: Bool,
        _ bound: Bound,
        depth: Int
    ) -> SQLPiece {
        var node = node
        var isNegated = isNegated
        while case .not(let part) = outline.nodes[node] {
            node = part
            isNegated.toggle()
        }
        switch outline.nodes[node] {
        case .truth(let isTrue):
            return .constant(isTrue != isNegated)
        case .all(let parts):
            return join(parts, isAnd: !isNegated, isNegated, bound, depth)
        case .any(let parts):
            return join(parts, isAnd: isNegated, isNegated, bound, depth)
        case .comparison(let comparison):
            guard budget > 0 else { return .undecided(bound) }
            budget -= 1
            let piece = comparisons.translate(comparison, isNegated ? bound.opposite : bound)
            return isNegated ? piece.negated : piece
        case .opaque:
            return .undecided(bound)
        case .not:
            preconditionFailure("negations were counted")
        }
    }

    private mutating func join(
        _ parts: [Int],
        isAnd: Bool,
        _ isNegated: Bool,
        _ bound: Bound,
        _ depth: Int
    ) -> SQLPiece {
        guard depth < Self.deepestNesting else { return .undecided(bound) }
        let parameters = comparisons.text.parameters.count
        var pieces: [SQLPiece] = []
        for part in parts {
            let piece = translate(part, isNegated: isNegated, bound, depth: depth + 1)
            if piece == .constant(!isAnd) {
                // The other parts cannot change the result.
                comparisons.text.forgetParameters(after: parameters)
                return piece
            }
            pieces.append(piece)
        }
        return isAnd ? .all(pieces) : .any(pieces)
    }
}
