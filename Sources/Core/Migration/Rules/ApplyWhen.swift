import BSON
import Changesets

/// Translates `apply_when` into a rule about the user (moving an app, 4.3).
struct ApplyWhen: RuleAtoms {
    let user: KnownUserData
    let reader: RuleExpressionReader
    /// Of a role that allows nothing, which may take in more users.
    let mayBeWider: Bool

    static let unsupportedCode = "import.apply_when_unsupported"

    /// Nil if no rule says exactly the same.
    func translate(_ tree: JSONTree?, path: String) -> (text: String?, problem: String) {
        var translator = RuleTranslator(atom)
        let rule = translator.translate(reader.read(tree ?? .object([]), path: path))
        let problem = translator.reasons.first { !$0.isExact }.map { "\($0.path): \($0.problem)" }
        guard rule.quality == .exact else {
            return (nil, problem ?? "no rule says the same")
        }
        return (RuleWords.rule.text(rule.logic), "")
    }

    private enum Side {
        case name(String, isAlwaysText: Bool)
        case constant(BSONValue)
        case missing
        case unreadable(String)
    }

    private func side(_ operand: RuleOperand) -> Side {
        switch operand {
        case .constant(let value): return .constant(value)
        case .userID: return .name("user.id", isAlwaysText: true)
        case .userType: return .name("user.type", isAlwaysText: true)
        case .userData(let path):
            return .name(
                "user.data.\(path.joined(separator: "."))",
                isAlwaysText: KnownUserData.form(ofData: path) == .single
            )
        case .customData(let path):
            switch user.custom {
            case .absent: return .missing
            case .lost: return .unreadable("custom user data is not carried over")
            case .available:
                return .name(
                    "user.custom_data.\(path.joined(separator: "."))",
                    isAlwaysText: user.form(ofCustomData: path) == .single
                )
            }
        case .converted(let inner, _): return side(inner)
        case .field, .partition: return .unreadable("only values of the user decide about a role")
        case .unreadable(_, let problem): return .unreadable(problem)
        }
    }

    private func atom(_ expression: RuleExpression) -> RuleTranslator.Atom {
        switch expression {
        case .comparison(let left, .equal, let right, let path):
            return equality(side(left), side(right), path)
        case .comparison(let left, .isElement, let right, let path):
            guard case .name(let element, _) = side(left), case .name(let list, _) = side(right)
            else { return impossible("this membership has no equivalent", path) }
            return (
                .exact(
                    .atom("\(element) IN \(list)", opposite: "NOT \(element) IN \(list)")
                ), nil
            )
        case .comparison(_, let comparison, _, let path):
            return impossible("comparisons with \(comparison.rawValue) have no equivalent", path)
        case .exists(let operand, let wanted, let path):
            guard case .missing = side(operand) else {
                return impossible("null and missing are one here", path)
            }
            return (.exact(.constant(!wanted)), nil)
        case .containsAll(_, _, let path): return impossible("$all has no equivalent", path)
        case .constant, .and, .or, .not, .unreadable:
            preconditionFailure("only comparisons are atoms")
        }
    }

    private func equality(_ left: Side, _ right: Side, _ path: String) -> RuleTranslator.Atom {
        switch (left, right) {
        case (.unreadable(let problem), _), (_, .unreadable(let problem)):
            return impossible(problem, path)
        case (.missing, .constant(.null)), (.constant(.null), .missing):
            return mayBeWider
                ? (.exact(.constant(true)), nil)
                : impossible("whether a missing value equals null is not known", path)
        case (.missing, _), (_, .missing): return (.never, nil)
        case (.constant(let left), .constant(let right)):
            return (.exact(.constant(left == right)), nil)
        case (.name(let name, let isText), .constant(let value)),
            (.constant(let value), .name(let name, let isText)):
            return self.name(name, isText, is: value, path)
        case (.name(let first, let isText), .name(let second, let isOtherText)):
            let equal = RuleLogic.atom(
                "\(first) == \(second)",
                opposite: "\(first) != \(second)"
            )
            var parts = [equal]
            if !isText { parts.append(element(second, of: first)) }
            if !isOtherText { parts.append(element(first, of: second)) }
            return (.exact(.or(parts)), nil)
        }
    }

    private func element(_ value: String, of list: String) -> RuleLogic {
        .atom("\(value) IN \(list)", opposite: "NOT \(value) IN \(list)")
    }

    /// Hosted took a value and a list of values alike; so does this.
    private func name(
        _ name: String,
        _ isAlwaysText: Bool,
        is value: BSONValue,
        _ path: String
    ) -> RuleTranslator.Atom {
        if value == .null {
            return mayBeWider
                ? (.exact(.atom("\(name) == null", opposite: "\(name) != null")), nil)
                : impossible("whether a missing value equals null is not known", path)
        }
        guard let text = RuleText.constant(value) else {
            return impossible("the constant has no equivalent", path)
        }
        let equal = RuleLogic.atom("\(name) == \(text)", opposite: "\(name) != \(text)")
        if case .bool = value { return (.exact(equal), nil) }
        return (.exact(isAlwaysText ? equal : .or([equal, element(text, of: name)])), nil)
    }
}
