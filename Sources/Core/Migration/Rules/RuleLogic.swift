/// A condition in the making: atoms of some language of rules, joined (moving an app, 4.1).
indirect enum RuleLogic: Hashable {
    case constant(Bool)
    /// A text and the text of its opposite.
    case atom(String, opposite: String)
    case and([RuleLogic])
    case or([RuleLogic])

    var negated: RuleLogic {
        switch self {
        case .constant(let value): .constant(!value)
        case .atom(let text, let opposite): .atom(opposite, opposite: text)
        case .and(let parts): .or(parts.map(\.negated))
        case .or(let parts): .and(parts.map(\.negated))
        }
    }

    /// Without constants inside, nested parts of one kind, and repeated parts.
    var simplified: RuleLogic {
        switch self {
        case .constant, .atom: return self
        case .and(let parts): return Self.joined(parts, isAnd: true)
        case .or(let parts): return Self.joined(parts, isAnd: false)
        }
    }

    private static func joined(_ parts: [RuleLogic], isAnd: Bool) -> RuleLogic {
        var kept: [RuleLogic] = []
        func add(_ part: RuleLogic) {
            if case .constant(isAnd) = part { return }
            if !kept.contains(part) { kept.append(part) }
        }
        for part in parts.map(\.simplified) {
            switch (part, isAnd) {
            case (.and(let inner), true), (.or(let inner), false): inner.forEach(add)
            default: add(part)
            }
        }
        if kept.contains(.constant(!isAnd)) { return .constant(!isAnd) }
        guard kept.count != 1 else { return kept[0] }
        guard !kept.isEmpty else { return .constant(isAnd) }
        return isAnd ? .and(kept) : .or(kept)
    }
}

/// The words of a language of rules.
struct RuleWords {
    let and: String
    let or: String
    let `true`: String
    let `false`: String
    /// Whether OR is put between parentheses also where it is the whole rule.
    let alwaysParenthesisesOr: Bool

    /// Of access rules and `apply_when`.
    static let rule = RuleWords(
        and: "AND",
        or: "OR",
        true: "true",
        false: "false",
        alwaysParenthesisesOr: false
    )
    /// Of filters.
    static let filter = RuleWords(
        and: "and",
        or: "or",
        true: "TRUEPREDICATE",
        false: "FALSEPREDICATE",
        alwaysParenthesisesOr: true
    )

    func text(_ logic: RuleLogic) -> String {
        text(logic.simplified, isInner: false)
    }

    private func text(_ logic: RuleLogic, isInner: Bool) -> String {
        switch logic {
        case .constant(let value): return value ? `true` : `false`
        case .atom(let text, _): return text
        case .and(let parts):
            return parts.map { text($0, isInner: true) }.joined(separator: " \(and) ")
        case .or(let parts):
            let joined = parts.map { part in
                let inner = text(part, isInner: true)
                if case .and = part, !alwaysParenthesisesOr { return "(\(inner))" }
                return inner
            }.joined(separator: " \(or) ")
            return isInner || alwaysParenthesisesOr ? "(\(joined))" : joined
        }
    }
}

/// Compares a rule here with the hosted one.
enum RuleQuality: Int, Comparable {
    case exact
    /// Admits less.
    case narrower
    /// Nothing here says it.
    case impossible

    static func < (left: RuleQuality, right: RuleQuality) -> Bool {
        left.rawValue < right.rawValue
    }
}

/// A translated expression.
struct TranslatedRule {
    var logic: RuleLogic
    var quality: RuleQuality

    static func exact(_ logic: RuleLogic) -> TranslatedRule {
        TranslatedRule(logic: logic, quality: .exact)
    }

    static let never = TranslatedRule.exact(.constant(false))
}
