import BSON

/// Turns expressions into the logic of one language of rules. Never wider: a part that the language
/// cannot say becomes false where more truth means more access, and true where it means less.
struct RuleTranslator {
    /// The translation of one comparison; the quality is as written, without negation.
    typealias Atoms = (RuleExpression) -> Atom
    typealias Atom = (rule: TranslatedRule, reason: Reason?)

    struct Reason: Hashable {
        let code: String
        let problem: String
        let path: String
        /// A constant result that is exact, such as a comparison of two types.
        var isExact = false
    }

    private let atoms: Atoms
    private(set) var reasons: [Reason] = []

    init(_ atoms: @escaping Atoms) {
        self.atoms = atoms
    }

    mutating func translate(_ expression: RuleExpression, isNegated: Bool = false)
        -> TranslatedRule
    {
        switch expression {
        case .constant(let value): return .exact(.constant(value))
        case .and(let parts):
            let translated = parts.map { translate($0, isNegated: isNegated) }
            return TranslatedRule(
                logic: .and(translated.map(\.logic)),
                quality: translated.map(\.quality).max() ?? .exact
            )
        case .or(let parts):
            let translated = parts.map { translate($0, isNegated: isNegated) }
            return TranslatedRule(
                logic: .or(translated.map(\.logic)),
                quality: translated.map(\.quality).max() ?? .exact
            )
        case .not(let part):
            let inner = translate(part, isNegated: !isNegated)
            return TranslatedRule(logic: inner.logic.negated, quality: inner.quality)
        case .unreadable(let code, let problem, let path):
            add(Reason(code: code, problem: problem, path: path))
            return impossible(isNegated)
        case .comparison(_, _, _, let path), .exists(_, _, let path),
            .containsAll(_, _, let path):
            let (rule, reason) = atoms(expression)
            if let reason { add(reason) }
            switch rule.quality {
            case .exact: return rule
            case .narrower where !isNegated: return rule
            case .narrower:
                add(
                    Reason(
                        code: "import.rule_unsupported",
                        problem: "the opposite of a rule that is narrower here would be wider",
                        path: path
                    )
                )
                return impossible(true)
            case .impossible: return impossible(isNegated)
            }
        }
    }

    private func impossible(_ isNegated: Bool) -> TranslatedRule {
        TranslatedRule(logic: .constant(isNegated), quality: .impossible)
    }

    private mutating func add(_ reason: Reason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }
}
