import BSON
import Changesets

/// An expression of the hosted service, read but not yet translated (moving an app, 4.1).
indirect enum RuleExpression {
    case constant(Bool)
    case and([RuleExpression])
    case or([RuleExpression])
    case not(RuleExpression)
    /// A field of documents or an expansion, and what is said about it.
    case comparison(RuleOperand, Comparison, RuleOperand, path: String)
    /// Whether the operand exists.
    case exists(RuleOperand, Bool, path: String)
    /// `$all`: the list has each of them.
    case containsAll(RuleOperand, [RuleOperand], path: String)
    case unreadable(code: String, problem: String, path: String)

    enum Comparison: String {
        case equal = "=="
        case isElement = "IN"
        case less = "<"
        case lessOrEqual = "<="
        case greater = ">"
        case greaterOrEqual = ">="
    }
}

/// One side of a comparison.
indirect enum RuleOperand: Hashable {
    case constant(BSONValue)
    case partition
    case userID
    case userType
    case userData([String])
    case customData([String])
    /// A field of the document.
    case field(String)
    case converted(RuleOperand, Conversion)
    case unreadable(code: String, problem: String)

    enum Conversion: Hashable {
        case toObjectID
        case toUUID
        case toText

        /// A constant after the conversion; nil if it cannot be converted.
        func constant(_ value: BSONValue) -> BSONValue? {
            guard case .string(let text) = value else { return nil }
            return switch self {
            case .toObjectID: ObjectID(text: text.bytes).map { .objectID($0) }
            case .toUUID: UniqueID(text: text.bytes).map { .binary(subtype: 4, $0.bytes) }
            case .toText: nil
            }
        }
    }
}

/// The constants that expressions name.
struct RuleConstants {
    var values: [String: ExportedApp.ExportedValue] = [:]
    var environment: [String: JSONTree] = [:]
    var environmentTag = ""
}

/// Reads expressions.
struct RuleExpressionReader {
    let constants: RuleConstants
    /// Whether a list of constants stays a list; otherwise each is compared.
    var keepsLists = false

    func read(_ tree: JSONTree?, path: String) -> RuleExpression {
        switch tree {
        case .bool(let value)?: return .constant(value)
        case .object(let members)?:
            return .and(members.map { member($0.name.description, $0.value, path) })
        case nil:
            return .unreadable(
                code: "import.rule_absent",
                problem: "there is no rule, which allows nothing",
                path: path
            )
        case .null?, .number?, .string?, .array?:
            return .unreadable(
                code: "import.rule_syntax",
                problem: "neither a boolean nor an object",
                path: path
            )
        }
    }

    private func member(_ name: String, _ value: JSONTree, _ path: String) -> RuleExpression {
        let path = "\(path).\(name)"
        switch Self.word(name) {
        case "and": return .and(list(value, path))
        case "or": return .or(list(value, path))
        case "nor": return .not(.or(list(value, path)))
        case "not": return .not(read(value, path: path))
        case let word? where name.first == "$" || name.first == "%" && !name.hasPrefix("%%"):
            return .unreadable(
                code: word == "function" ? "import.rule_function" : "import.rule_unsupported",
                problem: word == "function"
                    ? "function \(value["name"]?.text ?? "?") decides"
                    : "the operator \(name) has no equivalent",
                path: path
            )
        default: break
        }
        switch name {
        case "%%true": return condition(value, path)
        case "%%false": return .not(condition(value, path))
        default: return comparisons(operand(.string(.init(name)), isKey: true), value, path)
        }
    }

    /// The word of `$word` or `%word`; nil for another name.
    private static func word(_ name: String) -> String? {
        guard let first = name.first, first == "$" || first == "%", !name.hasPrefix("%%") else {
            return nil
        }
        return String(name.dropFirst())
    }

    private func list(_ value: JSONTree, _ path: String) -> [RuleExpression] {
        guard let elements = value.elements else {
            return [
                .unreadable(code: "import.rule_syntax", problem: "is not a list", path: path)
            ]
        }
        // MongoDB refuses an empty list, so that the rule gave nothing.
        guard !elements.isEmpty else {
            return [
                .unreadable(code: "import.rule_syntax", problem: "is an empty list", path: path)
            ]
        }
        return elements.enumerated().map { read($0.element, path: "\(path)[\($0.offset)]") }
    }

    /// The other side of `%%true` and `%%false`.
    private func condition(_ value: JSONTree, _ path: String) -> RuleExpression {
        switch value {
        case .bool, .object: read(value, path: path)
        default:
            .unreadable(
                code: "import.rule_unsupported",
                problem: "only expressions and booleans are compared with %%true",
                path: path
            )
        }
    }

    // MARK: Comparisons

    private func comparisons(
        _ left: RuleOperand,
        _ value: JSONTree,
        _ path: String
    ) -> RuleExpression {
        guard let members = value.members, let first = members.first,
            Self.word(first.name.description) != nil,
            (try? BSONValue(extendedJSON: value)).map(
                { if case .document = $0 { true } else { false } }
            ) ?? true
        else {
            return .comparison(left, .equal, operand(value), path: path)
        }
        if members.count == 1, let converted = conversion(members[0]) {
            return .comparison(left, .equal, converted, path: path)
        }
        return .and(
            members.map { operation($0.name.description, left, $0.value, "\(path).\($0.name)") }
        )
    }

    private func operation(
        _ name: String,
        _ left: RuleOperand,
        _ value: JSONTree,
        _ path: String
    ) -> RuleExpression {
        func compare(_ comparison: RuleExpression.Comparison) -> RuleExpression {
            .comparison(left, comparison, operand(value), path: path)
        }
        switch Self.word(name) {
        case "eq": return compare(.equal)
        case "ne": return .not(compare(.equal))
        case "lt": return compare(.less)
        case "lte": return compare(.lessOrEqual)
        case "gt": return compare(.greater)
        case "gte": return compare(.greaterOrEqual)
        case "in": return membership(left, value, path)
        case "nin": return .not(membership(left, value, path))
        case "not": return .not(comparisons(left, value, path))
        case "exists":
            guard let wanted = value.bool else { break }
            return .exists(left, wanted, path: path)
        case "all":
            guard let elements = value.elements else { break }
            return .containsAll(left, elements.map { operand($0) }, path: path)
        case "function":
            return .unreadable(
                code: "import.rule_function",
                problem: "function \(value["name"]?.text ?? "?") decides",
                path: path
            )
        default: break
        }
        return .unreadable(
            code: "import.rule_unsupported",
            problem: "the operator \(name) has no equivalent",
            path: path
        )
    }

    private func membership(
        _ left: RuleOperand,
        _ value: JSONTree,
        _ path: String
    ) -> RuleExpression {
        let list = operand(value)
        guard case .constant(.array(let elements)) = list, !keepsLists else {
            if case .constant(.array) = list {
                return .comparison(left, .isElement, list, path: path)
            }
            if let trees = value.elements {
                return .or(
                    trees.enumerated().map {
                        .comparison(
                            left,
                            .equal,
                            operand($0.element),
                            path: "\(path)[\($0.offset)]"
                        )
                    }
                )
            }
            return .comparison(left, .isElement, list, path: path)
        }
        return .or(
            elements.enumerated().map {
                .comparison(left, .equal, .constant($0.element), path: "\(path)[\($0.offset)]")
            }
        )
    }

    // MARK: Operands

    private func conversion(_ member: JSONTree.Member) -> RuleOperand? {
        let value = { operand(member.value) }
        switch member.name.description {
        case "%stringToOid": return .converted(value(), .toObjectID)
        case "%stringToUuid": return .converted(value(), .toUUID)
        case "%oidToString", "%uuidToString": return .converted(value(), .toText)
        case "%function":
            return .unreadable(
                code: "import.rule_function",
                problem: "function \(member.value["name"]?.text ?? "?") decides"
            )
        default: return nil
        }
    }

    /// - Parameter isKey: text without `%%` is the name of a field.
    private func operand(_ tree: JSONTree, isKey: Bool = false) -> RuleOperand {
        if case .string(let text) = tree, let string = text.string {
            if string.hasPrefix("%%") { return expansion(string) }
            return isKey ? .field(string) : .constant(.string(text))
        }
        if let members = tree.members, members.count == 1, let converted = conversion(members[0]) {
            return converted
        }
        if let elements = tree.elements,
            elements.contains(where: { $0.text?.hasPrefix("%%") == true || $0.members != nil })
        {
            let operands = elements.map { operand($0) }
            let constants = operands.compactMap { operand -> BSONValue? in
                if case .constant(let value) = operand { value } else { nil }
            }
            guard constants.count == operands.count else {
                return .unreadable(
                    code: "import.rule_unsupported",
                    problem: "a list of values of the user"
                )
            }
            return .constant(.array(constants))
        }
        guard let value = try? BSONValue(extendedJSON: tree) else {
            return .unreadable(code: "import.rule_syntax", problem: "the constant cannot be read")
        }
        if case .document = value {
            return .unreadable(
                code: "import.rule_unsupported",
                problem: "an object as a value has no equivalent"
            )
        }
        return .constant(value)
    }

    private func expansion(_ text: String) -> RuleOperand {
        let name = String(text.dropFirst(2))
        let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        let isPlain = parts.allSatisfy { part in
            !part.isEmpty
                && part.unicodeScalars.allSatisfy {
                    $0.properties.isAlphabetic || $0.properties.numericType != nil || $0 == "_"
                        || $0 == "-"
                }
        }
        let unsupported = RuleOperand.unreadable(
            code: "import.rule_unsupported",
            problem: "\(text) has no equivalent"
        )
        switch (parts[0], parts.count) {
        case ("true", 1): return .constant(.bool(true))
        case ("false", 1): return .constant(.bool(false))
        case ("partition", 1): return .partition
        case ("user", 2) where parts[1] == "id": return .userID
        case ("user", 2) where parts[1] == "type": return .userType
        case ("user", 3...) where parts[1] == "data" && isPlain:
            return .userData(Array(parts.dropFirst(2)))
        case ("user", 3...) where parts[1] == "custom_data" && isPlain:
            return .customData(Array(parts.dropFirst(2)))
        case ("values", 2...): return value(parts.dropFirst().joined(separator: "."))
        case ("environment", 2) where parts[1] == "tag":
            return .constant(.string(.init(constants.environmentTag)))
        case ("environment", 3...) where parts[1] == "values":
            let key = parts.dropFirst(2).joined(separator: ".")
            guard let tree = constants.environment[key],
                let value = try? BSONValue(extendedJSON: tree)
            else {
                return .unreadable(
                    code: "import.rule_unknown_value",
                    problem: "\(text) is not in the export"
                )
            }
            return .constant(value)
        case ("root", _), ("prevRoot", _), ("this", _), ("prev", _):
            return .unreadable(
                code: "import.rule_document",
                problem: "\(text) is a value of the document"
            )
        default: return unsupported
        }
    }

    private func value(_ name: String) -> RuleOperand {
        switch constants.values[name] {
        case .constant(let tree)?:
            guard let value = try? BSONValue(extendedJSON: tree) else {
                return .unreadable(
                    code: "import.rule_unknown_value",
                    problem: "value \(name) cannot be read"
                )
            }
            return .constant(value)
        case .secret?:
            return .unreadable(
                code: "import.rule_secret",
                problem: "value \(name) is a secret, not in the export"
            )
        case nil:
            return .unreadable(
                code: "import.rule_unknown_value",
                problem: "value \(name) is not in the export"
            )
        }
    }
}
