import BSON
import Changesets
import Scopes

/// Translates permissions of partitions into access rules (moving an app, 4.2).
struct PartitionRules: RuleAtoms {
    let kind: Partition.Kind
    let user: KnownUserData
    let reader: RuleExpressionReader

    struct Outcome {
        let logic: RuleLogic
        let quality: RuleQuality
        let reasons: [RuleTranslator.Reason]

        var text: String { RuleWords.rule.text(logic) }
    }

    func translate(_ tree: JSONTree?, path: String) -> Outcome {
        var translator = RuleTranslator(atom)
        let rule = translator.translate(reader.read(tree, path: path))
        return Outcome(logic: rule.logic, quality: rule.quality, reasons: translator.reasons)
    }

    /// Write implied read.
    static func read(_ read: Outcome, orWrite write: Outcome) -> String {
        RuleWords.rule.text(.or([read.logic, write.logic]))
    }

    // MARK: Atoms

    private func atom(_ expression: RuleExpression) -> RuleTranslator.Atom {
        switch expression {
        case .comparison(let left, .equal, let right, let path):
            return equality(left, right, path)
        case .comparison(let left, .isElement, let list, let path):
            return membership(left, list, path)
        case .comparison(_, let comparison, _, let path):
            return impossible("comparisons with \(comparison.rawValue) have no equivalent", path)
        case .exists(let operand, let wanted, let path):
            return existence(operand, wanted, path)
        case .containsAll(_, _, let path): return impossible("$all has no equivalent", path)
        case .constant, .and, .or, .not, .unreadable:
            preconditionFailure("only comparisons are atoms")
        }
    }

    private enum Side {
        case partition
        case constant(BSONValue)
        /// A name, its type, and whether its value may be missing, or a list.
        case name(
            String,
            type: Partition.Kind?,
            guarded: Bool,
            form: KnownUserData.Form,
            isCustom: Bool
        )
        case missing
        case unreadable(code: String, problem: String)
    }

    private func side(_ operand: RuleOperand) -> Side {
        switch operand {
        case .constant(let value): return .constant(value)
        case .partition: return .partition
        case .userID:
            return .name("user.id", type: .string, guarded: false, form: .single, isCustom: false)
        case .userType:
            return .name("user.type", type: .string, guarded: false, form: .single, isCustom: false)
        case .userData(let path):
            return .name(
                "user.data.\(path.joined(separator: "."))",
                type: .string,
                guarded: true,
                form: KnownUserData.form(ofData: path),
                isCustom: false
            )
        case .customData(let path):
            switch user.custom {
            case .absent: return .missing
            case .lost:
                return .unreadable(
                    code: "import.rule_unsupported",
                    problem: "custom user data is not carried over"
                )
            case .available:
                return .name(
                    "user.custom_data.\(path.joined(separator: "."))",
                    type: nil,
                    guarded: false,
                    form: user.form(ofCustomData: path),
                    isCustom: true
                )
            }
        case .field:
            return .unreadable(
                code: "import.rule_document",
                problem: "a field of documents does not decide about a partition"
            )
        case .converted(let inner, let conversion): return converted(side(inner), conversion)
        case .unreadable(let code, let problem): return .unreadable(code: code, problem: problem)
        }
    }

    private func converted(_ side: Side, _ conversion: RuleOperand.Conversion) -> Side {
        switch (side, conversion) {
        case (.name(let text, _, let guarded, let form, let isCustom), _):
            let type: Partition.Kind =
                switch conversion {
                case .toObjectID: .objectID
                case .toUUID: .uuid
                case .toText: .string
                }
            return .name(text, type: type, guarded: guarded, form: form, isCustom: isCustom)
        // Rules compare the text of a partition.
        case (.partition, .toText) where kind == .objectID || kind == .uuid:
            return .name(
                "partition",
                type: .string,
                guarded: false,
                form: .single,
                isCustom: false
            )
        case (.constant(let value), _):
            guard let converted = conversion.constant(value) else { break }
            return .constant(converted)
        default: break
        }
        return .unreadable(
            code: "import.rule_unsupported",
            problem: "the conversion has no equivalent"
        )
    }

    private func equality(_ left: RuleOperand, _ right: RuleOperand, _ path: String)
        -> RuleTranslator.Atom
    {
        switch (side(left), side(right)) {
        case (.unreadable(let code, let problem), _), (_, .unreadable(let code, let problem)):
            return impossible(problem, path, code: code)
        case (.missing, .constant(let value)), (.constant(let value), .missing):
            return value == .null
                ? impossible("whether a missing value equals null is not known", path)
                : (.never, nil)
        case (.missing, _), (_, .missing): return (.never, nil)
        case (.partition, .partition): return (.exact(.constant(true)), nil)
        case (.constant(let left), .constant(let right)):
            return (.exact(.constant(left == right)), nil)
        case (.partition, .constant(let value)), (.constant(let value), .partition):
            return partition(is: value, path)
        case (.partition, .name(let name, let type, let guarded, let form, let isCustom)),
            (.name(let name, let type, let guarded, let form, let isCustom), .partition):
            guard type ?? kind == kind else { return never(path) }
            if isCustom { return custom("partition", name, form) }
            return list(
                form,
                path,
                guarded
                    ? .and([
                        .atom("\(name) != null", opposite: "\(name) == null"),
                        equal("partition", name),
                    ]) : equal("partition", name)
            )
        case (.name(let name, let type, _, let form, let isCustom), .constant(let value)),
            (.constant(let value), .name(let name, let type, _, let form, let isCustom)):
            return self.name(name, type, form, isCustom: isCustom, is: value, path)
        case (
            .name(let first, let type, _, let form, let isCustom),
            .name(let second, let otherType, _, let otherForm, let isOtherCustom)
        ):
            if let type, let otherType, type != otherType { return never(path) }
            // The other value may be a list, too, whose elements do not count here.
            if isCustom, !isOtherCustom {
                let (rule, reason) = custom(second, first, form)
                return otherForm == .single ? (rule, reason) : list(otherForm, path, rule.logic)
            }
            if isOtherCustom, !isCustom {
                let (rule, reason) = custom(first, second, otherForm)
                return form == .single ? (rule, reason) : list(form, path, rule.logic)
            }
            guard !isCustom else { return impossible("two values of custom data", path) }
            return list(
                form == .single && otherForm == .single ? .single : .unknown,
                path,
                equal(first, second)
            )
        }
    }

    private func equal(_ left: String, _ right: String) -> RuleLogic {
        // The partition is always on the left.
        let (left, right) = right == "partition" ? (right, left) : (left, right)
        return .atom("\(left) == \(right)", opposite: "\(left) != \(right)")
    }

    /// Hosted took a value and a list of values alike.
    private func custom(
        _ value: String,
        _ name: String,
        _ form: KnownUserData.Form
    ) -> RuleTranslator.Atom {
        let element = RuleLogic.atom("\(value) IN \(name)", opposite: "NOT \(value) IN \(name)")
        switch form {
        case .single: return (.exact(equal(value, name)), nil)
        case .list: return (.exact(element), nil)
        case .unknown: return (.exact(.or([equal(value, name), element])), nil)
        }
    }

    private func list(_ form: KnownUserData.Form, _ path: String, _ logic: RuleLogic)
        -> RuleTranslator.Atom
    {
        guard form != .single else { return (.exact(logic), nil) }
        return (
            TranslatedRule(logic: logic, quality: .narrower),
            RuleTranslator.Reason(
                code: "import.rule_list",
                problem: "where the user's value is a list, its elements do not count",
                path: path
            )
        )
    }

    private func partition(is value: BSONValue, _ path: String) -> RuleTranslator.Atom {
        let text: String?
        switch (value, kind) {
        case (.null, _): text = "null"
        case (.string(let value), .string):
            guard let quoted = RuleText.quoted(value) else {
                return impossible("text with both kinds of quotes cannot be written", path)
            }
            text = quoted
        case (.objectID(let id), .objectID): text = "'\(id)'"
        case (.binary(4, let bytes), .uuid): text = UniqueID(bytes: bytes).map { "'\($0)'" }
        case (.int32(let number), .int): text = "\(number)"
        case (.int64(let number), .int): text = "\(number)"
        case (.double(let number), .int): text = Int64(exactly: number.value).map { "\($0)" }
        default: text = nil
        }
        guard let text else { return never(path) }
        return (.exact(equal("partition", text)), nil)
    }

    private func name(
        _ name: String,
        _ type: Partition.Kind?,
        _ form: KnownUserData.Form,
        isCustom: Bool,
        is value: BSONValue,
        _ path: String
    ) -> RuleTranslator.Atom {
        guard let text = RuleText.constant(value) else {
            if case .string = value {
                return impossible("text with both kinds of quotes cannot be written", path)
            }
            return impossible("the constant has no equivalent", path)
        }
        guard value != .null else {
            return impossible("whether a missing value equals null is not known", path)
        }
        if isCustom {
            let element = RuleLogic.atom("\(text) IN \(name)", opposite: "NOT \(text) IN \(name)")
            switch form {
            case .single: return (.exact(equal(name, text)), nil)
            case .list: return (.exact(element), nil)
            case .unknown:
                // A flag is not a list.
                if case .bool = value { return (.exact(equal(name, text)), nil) }
                return (.exact(.or([equal(name, text), element])), nil)
            }
        }
        if form == .single {
            guard case .string = value, type == .string else { return never(path) }
        }
        return list(form, path, equal(name, text))
    }

    private func membership(
        _ left: RuleOperand,
        _ list: RuleOperand,
        _ path: String
    ) -> RuleTranslator.Atom {
        switch (side(left), side(list)) {
        case (.unreadable(let code, let problem), _), (_, .unreadable(let code, let problem)):
            return impossible(problem, path, code: code)
        case (_, .missing): return (.never, nil)
        case (.partition, .name(let name, _, _, _, true)):
            return custom("partition", name, .list)
        case (.name(let value, _, _, _, false), .name(let name, _, _, _, true)):
            return custom(value, name, .list)
        default: return impossible("this membership has no equivalent", path)
        }
    }

    private func existence(_ operand: RuleOperand, _ wanted: Bool, _ path: String)
        -> RuleTranslator.Atom
    {
        switch side(operand) {
        case .unreadable(let code, let problem): return impossible(problem, path, code: code)
        case .missing: return (.exact(.constant(!wanted)), nil)
        case .partition, .constant: return impossible("$exists has no equivalent here", path)
        case .name(let name, _, let guarded, _, let isCustom):
            guard guarded || isCustom else { return (.exact(.constant(wanted)), nil) }
            guard wanted else { return impossible("null and missing are one here", path) }
            return (
                TranslatedRule(
                    logic: .atom("\(name) != null", opposite: "\(name) == null"),
                    quality: .narrower
                ),
                RuleTranslator.Reason(
                    code: "import.rule_exists",
                    problem: "a value that is null does not count as existing",
                    path: path
                )
            )
        }
    }
}

/// Constants in rules.
enum RuleText {
    /// Strings of rules have no escapes: nil for text with both kinds of quotes.
    static func quoted(_ text: Text) -> String? {
        guard let string = text.string else { return nil }
        if !string.contains("'") { return "'\(string)'" }
        return string.contains("\"") ? nil : "\"\(string)\""
    }

    /// Nil for a value that rules do not have.
    static func constant(_ value: BSONValue) -> String? {
        switch value {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .string(let text): quoted(text)
        case .int32(let number): "\(number)"
        case .int64(let number): "\(number)"
        case .double(let number): Int64(exactly: number.value).map { "\($0)" }
        case .objectID(let id): "'\(id)'"
        case .binary(4, let bytes): UniqueID(bytes: bytes).map { "'\($0)'" }
        default: nil
        }
    }
}
