import BSON
import Changesets
import Schemas

/// Translates document filters into filters here (moving an app, 4.3).
struct FilterTranslation: RuleAtoms {
    let owner: ClassSchema
    /// With the primary key.
    let queryable: Set<Text>
    let user: KnownUserData
    let reader: RuleExpressionReader

    struct Outcome {
        let logic: RuleLogic
        let quality: RuleQuality
        let reasons: [RuleTranslator.Reason]
        /// The reason why hosted did not take the filter: its role gave nothing.
        let incompatible: String?

        var text: String { RuleWords.filter.text(logic) }
    }

    func translate(_ tree: JSONTree?, path: String) -> Outcome {
        let expression = reader.read(tree, path: path)
        if let problem = incompatibility(of: expression) {
            return Outcome(
                logic: .constant(false),
                quality: .exact,
                reasons: [],
                incompatible: problem
            )
        }
        var translator = RuleTranslator(atom)
        let rule = translator.translate(expression)
        return Outcome(
            logic: rule.logic,
            quality: rule.quality,
            reasons: translator.reasons,
            incompatible: nil
        )
    }

    // MARK: Compatibility

    private func incompatibility(of expression: RuleExpression) -> String? {
        switch expression {
        case .constant: return nil
        case .and(let parts), .or(let parts):
            return parts.lazy.compactMap { incompatibility(of: $0) }.first
        case .not(let part): return incompatibility(of: part)
        case .unreadable(let code, let problem, let path):
            let isRead = ["import.rule_unsupported", "import.rule_syntax"].contains(code)
            return isRead ? nil : "\(path): \(problem)"
        case .comparison(let left, _, let right, let path):
            return incompatibility(of: left, path) ?? incompatibility(of: right, path)
        case .exists(let operand, _, let path): return incompatibility(of: operand, path)
        case .containsAll(let operand, let others, let path):
            return ([operand] + others).lazy.compactMap { incompatibility(of: $0, path) }.first
        }
    }

    private func incompatibility(of operand: RuleOperand, _ path: String) -> String? {
        switch operand {
        case .field(let name):
            if name.contains(".") { return "\(path): a path into objects" }
            return queryable.contains(Text(name)) ? nil : "\(path): \(name) is not queryable"
        case .partition: return "\(path): there is no partition"
        case .unreadable(let code, let problem):
            return code == "import.rule_document" || code == "import.rule_function"
                ? "\(path): \(problem)" : nil
        case .converted(let inner, _): return incompatibility(of: inner, path)
        case .constant, .userID, .userType, .userData, .customData: return nil
        }
    }

    // MARK: Atoms

    private func atom(_ expression: RuleExpression) -> RuleTranslator.Atom {
        switch expression {
        case .comparison(let left, let comparison, let right, let path):
            return self.comparison(left, comparison, right, path)
        case .exists(let operand, let wanted, let path): return exists(operand, wanted, path)
        case .containsAll(let operand, let others, let path):
            let parts = others.map { comparison(operand, .equal, $0, path) }
            // `$all` of an empty list matches no document.
            guard !parts.isEmpty else { return (.never, nil) }
            return (
                TranslatedRule(
                    logic: .and(parts.map(\.rule.logic)),
                    quality: parts.map(\.rule.quality).max() ?? .exact
                ),
                parts.compactMap(\.reason).first
            )
        case .constant, .and, .or, .not, .unreadable:
            preconditionFailure("only comparisons are atoms")
        }
    }

    private struct Field {
        let name: String
        let type: PropertyType
        let isList: Bool
    }

    private enum Side {
        case field(Field)
        case constant(BSONValue)
        case user(String, type: PropertyType?, isAlwaysThere: Bool)
        case missing
        case unreadable(code: String, problem: String)
    }

    private func side(_ operand: RuleOperand) -> Side {
        switch operand {
        case .constant(let value): return .constant(value)
        case .field(let name):
            if let key = owner.primaryKey, key.name == Text(name),
                let type = key.type.propertyType
            {
                return .field(Field(name: name, type: type, isList: false))
            }
            guard let property = owner.property(named: Text(name)) else {
                return .unreadable(
                    code: "import.rule_unsupported",
                    problem: "\(name) is not a property"
                )
            }
            return .field(
                Field(name: name, type: property.type, isList: property.collection != .single)
            )
        case .userID: return .user("$user.id", type: .string, isAlwaysThere: true)
        case .userType: return .user("$user.type", type: .string, isAlwaysThere: true)
        case .userData(let path):
            return .user(
                "$user.data.\(path.joined(separator: "."))",
                type: .string,
                isAlwaysThere: false
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
                return .user(
                    "$user.custom_data.\(path.joined(separator: "."))",
                    type: nil,
                    isAlwaysThere: false
                )
            }
        case .partition:
            return .unreadable(code: "import.rule_unsupported", problem: "there is no partition")
        case .converted(let inner, let conversion):
            switch (side(inner), conversion) {
            case (.user(let text, _, let isThere), .toObjectID):
                return .user(text, type: .objectID, isAlwaysThere: isThere)
            case (.user(let text, _, let isThere), .toUUID):
                return .user(text, type: .uuid, isAlwaysThere: isThere)
            case (.constant(let value), _):
                guard let converted = conversion.constant(value) else { break }
                return .constant(converted)
            default: break
            }
            return .unreadable(
                code: "import.rule_unsupported",
                problem: "the conversion has no equivalent"
            )
        case .unreadable(let code, let problem): return .unreadable(code: code, problem: problem)
        }
    }

    private func comparison(
        _ left: RuleOperand,
        _ comparison: RuleExpression.Comparison,
        _ right: RuleOperand,
        _ path: String
    ) -> RuleTranslator.Atom {
        switch (side(left), side(right)) {
        case (.unreadable(let code, let problem), _), (_, .unreadable(let code, let problem)):
            return impossible(problem, path, code: code)
        case (.missing, .constant(.null)), (.constant(.null), .missing):
            return impossible("whether a missing value equals null is not known", path)
        case (.missing, .field), (.field, .missing):
            // Objects without the field may have matched.
            return (TranslatedRule(logic: .constant(false), quality: .narrower), nil)
        case (.missing, _), (_, .missing): return (.never, nil)
        case (.field(let field), .constant(let value)):
            return self.field(field, comparison, value, path)
        case (.constant(let value), .field(let field)) where comparison == .equal:
            return self.field(field, comparison, value, path)
        case (.field(let field), .user(let name, let type, let isThere)):
            return self.field(field, comparison, name, type, isThere, path)
        case (.user(let name, let type, let isThere), .field(let field))
        where comparison == .equal:
            return self.field(field, comparison, name, type, isThere, path)
        case (.constant(let left), .constant(let right)) where comparison == .equal:
            return (.exact(.constant(left == right)), nil)
        case (.user(let name, _, _), .constant(let value)) where comparison == .equal,
            (.constant(let value), .user(let name, _, _)) where comparison == .equal:
            return userValue(name, value, path)
        default: return impossible("this comparison has no equivalent", path)
        }
    }

    private func atom(_ text: String) -> RuleLogic {
        .atom(text, opposite: "!(\(text))")
    }

    private func field(
        _ field: Field,
        _ comparison: RuleExpression.Comparison,
        _ value: BSONValue,
        _ path: String
    ) -> RuleTranslator.Atom {
        if case .array(let elements) = value {
            guard comparison == .isElement || comparison == .equal else {
                return impossible("a list in this place has no equivalent", path)
            }
            guard comparison == .isElement else {
                return impossible("lists are not compared as a whole", path)
            }
            return membership(field, elements, path)
        }
        if value == .null {
            guard comparison == .equal, !field.isList else {
                return impossible("null in this place has no equivalent", path)
            }
            return (
                .exact(.atom("\(field.name) == NULL", opposite: "\(field.name) != NULL")), nil
            )
        }
        guard let constant = FilterText.constant(value, as: field.type) else { return never(path) }
        let quantifier = field.isList ? "ANY " : ""
        let text = "\(quantifier)\(field.name) \(comparison.rawValue) \(constant)"
        if field.isList, comparison == .equal {
            return (.exact(.atom(text, opposite: "NONE \(field.name) == \(constant)")), nil)
        }
        guard comparison != .equal else {
            return (.exact(.atom(text, opposite: "\(field.name) != \(constant)")), nil)
        }
        return (.exact(atom(text)), nil)
    }

    private func membership(_ field: Field, _ elements: [BSONValue], _ path: String)
        -> RuleTranslator.Atom
    {
        var constants: [String] = []
        var hasNull = false
        for element in elements {
            if element == .null {
                hasNull = true
            } else if let constant = FilterText.constant(element, as: field.type) {
                constants.append(constant)
            }
        }
        var parts: [RuleLogic] = []
        if !constants.isEmpty {
            let quantifier = field.isList ? "ANY " : ""
            let list = constants.joined(separator: ", ")
            parts.append(atom("\(quantifier)\(field.name) IN {\(list)}"))
        }
        if hasNull, !field.isList {
            parts.append(.atom("\(field.name) == NULL", opposite: "\(field.name) != NULL"))
        }
        return (.exact(.or(parts)), nil)
    }

    private func field(
        _ field: Field,
        _ comparison: RuleExpression.Comparison,
        _ name: String,
        _ type: PropertyType?,
        _ isAlwaysThere: Bool,
        _ path: String
    ) -> RuleTranslator.Atom {
        if comparison != .isElement, let type, type != field.type, field.type != .mixed {
            return never(path)
        }
        let quantifier = field.isList ? "ANY " : ""
        let text = "\(quantifier)\(field.name) \(comparison.rawValue) \(name)"
        let logic: RuleLogic =
            field.isList && comparison == .equal
            ? .atom(text, opposite: "NONE \(field.name) == \(name)") : atom(text)
        if comparison == .isElement { return (.exact(logic), nil) }
        if isAlwaysThere { return (.exact(logic), nil) }
        // A missing value was compared like null, which then also matched objects without a value.
        return (
            TranslatedRule(logic: .and([atom("\(name) != NULL"), logic]), quality: .narrower),
            nil
        )
    }

    private func userValue(_ name: String, _ value: BSONValue, _ path: String)
        -> RuleTranslator.Atom
    {
        switch value {
        case .string(let text):
            return (.exact(atom("\(name) == \(FilterText.quoted(text))")), nil)
        case .bool(let value): return (.exact(atom("\(name) == \(value)")), nil)
        case .int32(let value): return (.exact(atom("\(name) == \(value)")), nil)
        case .int64(let value): return (.exact(atom("\(name) == \(value)")), nil)
        default: return impossible("the constant has no equivalent", path)
        }
    }

    private func exists(_ operand: RuleOperand, _ wanted: Bool, _ path: String)
        -> RuleTranslator.Atom
    {
        let name: String
        switch side(operand) {
        case .unreadable(let code, let problem): return impossible(problem, path, code: code)
        case .missing: return (.exact(.constant(!wanted)), nil)
        case .user(let text, _, _): name = text
        case .field(let field) where !field.isList: name = field.name
        case .field, .constant:
            return impossible("$exists has no equivalent here", path, code: "import.rule_exists")
        }
        guard wanted else {
            return impossible(
                "null and missing are one here",
                path,
                code: "import.rule_exists"
            )
        }
        return (TranslatedRule(logic: atom("\(name) != NULL"), quality: .narrower), nil)
    }
}

/// Constants in filters.
enum FilterText {
    /// Text with quotes, backslashes or other letters as Base64.
    static func quoted(_ text: Text) -> String {
        let isPlain = text.bytes.allSatisfy {
            (0x20..<0x7f).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
        if isPlain { return "\"\(text)\"" }
        return "B64\"\(String(decoding: Base64.encode(text.bytes), as: UTF8.self))\""
    }

    /// Nil if the value does not have the type.
    static func constant(_ value: BSONValue, as type: PropertyType) -> String? {
        switch (value, type) {
        case (.string(let text), .string), (.string(let text), .mixed): return quoted(text)
        case (.bool(let value), .bool), (.bool(let value), .mixed): return "\(value)"
        case (.int32(let number), _) where type.isNumber: return "\(number)"
        case (.int64(let number), _) where type.isNumber: return "\(number)"
        case (.double(let number), _) where type.isNumber && number.value.isFinite:
            if type == .int { return Int64(exactly: number.value).map { "\($0)" } }
            return "\(number.value)"
        case (.objectID(let id), .objectID), (.objectID(let id), .mixed): return "oid(\(id))"
        case (.binary(4, let bytes), .uuid), (.binary(4, let bytes), .mixed):
            return UniqueID(bytes: bytes).map { "uuid(\($0))" }
        case (.date(let milliseconds), .timestamp):
            guard let timestamp = Timestamp(milliseconds: milliseconds) else { return nil }
            return "T\(timestamp.seconds):\(timestamp.nanoseconds)"
        default: return nil
        }
    }
}

extension PropertyType {
    fileprivate var isNumber: Bool {
        switch self {
        case .int, .float, .double, .decimal, .mixed: true
        default: false
        }
    }
}
