import Changesets
import JSON
import Query

/// Strings. One that is not portable is an object with its bytes in base64, which only equality can
/// decide.
extension ComparisonTranslator {
    mutating func string(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard case .string(let bytes) = comparison.constants[0] else { return .undecided(bound) }
        let constant = String(validating: bytes, as: UTF8.self)
        guard let constant, !bytes.contains(0) else {
            guard comparison.operation.isEquality, !comparison.ignoresCase else {
                return .undecided(bound)
            }
            return equality(comparison, .sql(equal(operand, tagged: bytes)))
        }
        if comparison.operation.isEquality {
            if comparison.ignoresCase { return ignoringCase(comparison, operand, constant, bound) }
            return equality(comparison, .sql(equal(operand, constant)))
        }
        if let sign = comparison.operation.sign {
            return decided(compared(operand, sign, constant), operand, bound)
        }
        return search(comparison, operand, constant, bound)
    }

    /// A condition on portable strings; the evaluator decides on the others.
    private func decided(_ condition: String, _ operand: SQLOperand, _ bound: Bound) -> SQLPiece {
        switch bound {
        case .wide: .sql("(\(condition) OR \(operand.isTagged))")
        case .narrow: .sql("(\(condition) AND NOT \(operand.isTagged))")
        }
    }

    private func equality(_ comparison: OutlinedComparison, _ equal: SQLPiece) -> SQLPiece {
        comparison.operation == .notEqual ? equal.inverse : equal
    }

    /// The text of a JSON object could be that of a string.
    private mutating func equal(_ operand: SQLOperand, _ constant: String) -> String {
        let isEqual = compared(operand, "=", constant)
        return constant.utf8.first == UInt8(ascii: "{")
            ? "(\(isEqual) AND NOT \(operand.isTagged))" : isEqual
    }

    private mutating func equal(_ operand: SQLOperand, tagged bytes: [UInt8]) -> String {
        let base64 = String(decoding: Base64.encode(bytes), as: UTF8.self)
        return equal(operand, object: #"{"$string":{"base64":"\#(base64)"}}"#)
    }

    /// An object in the canonical form.
    mutating func equal(_ operand: SQLOperand, object json: String) -> String {
        switch text.dialect {
        case .sqlite: "(\(operand.json) = \(text.bind(json)) AND \(operand.isTagged))"
        case .postgreSQL: "\(operand.json) = \(text.bind(json: json))"
        }
    }

    // MARK: Without case

    /// Letters to lower case as `CaseFolding` does; nil where the dialect cannot for this needle.
    private func folded(_ operand: SQLOperand, for needle: String) -> String? {
        switch text.dialect {
        case .sqlite:
            // lower() only changes ASCII letters, and a needle of ASCII meets no others.
            needle.utf8.allSatisfy { $0 < 0x80 } ? "lower(\(operand.value))" : nil
        case .postgreSQL:
            "translate(\(operand.value), '\(Self.upperCase)', '\(Self.lowerCase)')"
        }
    }

    private static let upperCase = letters(0x41...0x5a) + letters(0xc0...0xde)
    private static let lowerCase = letters(0x61...0x7a) + letters(0xe0...0xfe)

    private static func letters(_ range: ClosedRange<UInt32>) -> String {
        String(String.UnicodeScalarView(range.compactMap(Unicode.Scalar.init)))
    }

    private static func folded(_ text: String) -> String {
        String(decoding: OutlinedComparison.folded(Array(text.utf8)), as: UTF8.self)
    }

    private mutating func ignoringCase(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ constant: String,
        _ bound: Bound
    ) -> SQLPiece {
        guard let value = folded(operand, for: constant) else { return .undecided(bound) }
        let isEqual = "\(value) = \(text.bind(Self.folded(constant)))"
        // No string that is not portable equals one that is.
        return equality(comparison, .sql("(\(isEqual) AND NOT \(operand.isTagged))"))
    }

    // MARK: Searching

    private mutating func search(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ needle: String,
        _ bound: Bound
    ) -> SQLPiece {
        var value = operand.value
        var needle = needle
        if comparison.ignoresCase {
            guard let folded = folded(operand, for: needle) else { return .undecided(bound) }
            value = folded
            needle = Self.folded(needle)
        }
        if needle.isEmpty, comparison.operation != .like { return .constant(true) }
        let condition: String
        let isSQLite = text.dialect == .sqlite
        switch comparison.operation {
        case .beginsWith:
            let prefix = text.bind(needle)
            condition =
                isSQLite
                ? "substr(\(value), 1, length(\(prefix))) = \(prefix)"
                : "starts_with(\(value), \(prefix))"
        case .endsWith:
            let suffix = text.bind(needle)
            condition =
                isSQLite
                ? "substr(\(value), -length(\(suffix))) = \(suffix)"
                : "right(\(value), length(\(suffix))) = \(suffix)"
        case .contains:
            let part = text.bind(needle)
            condition =
                isSQLite ? "instr(\(value), \(part)) > 0" : "strpos(\(value), \(part)) > 0"
        case .like:
            // Both databases try each position for each star.
            guard needle.utf8.count(where: { $0 == UInt8(ascii: "*") }) <= 4 else {
                return .undecided(bound)
            }
            let pattern = text.bind(isSQLite ? Self.glob(needle) : Self.like(needle))
            condition = "\(value) \(isSQLite ? "GLOB" : "LIKE") \(pattern)"
        default:
            return .undecided(bound)
        }
        return decided(condition, operand, bound)
    }

    /// The pattern for SQLite, where brackets are special as well.
    private static func glob(_ pattern: String) -> String {
        pattern.unicodeScalars.reduce(into: "") { result, character in
            if character == "[" {
                result += "[[]"
            } else {
                result.unicodeScalars.append(character)
            }
        }
    }

    private static func like(_ pattern: String) -> String {
        pattern.unicodeScalars.reduce(into: "") { result, character in
            switch character {
            case "*": result += "%"
            case "?": result += "_"
            case "%", "_", "\\":
                result += "\\"
                result.unicodeScalars.append(character)
            default: result.unicodeScalars.append(character)
            }
        }
    }

    // MARK: IN

    mutating func membership(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        var numbers: [Int64] = []
        var texts: [String] = []
        var others: [[UInt8]] = []
        for constant in comparison.constants {
            switch constant {
            case .null: continue
            case .int(let value): numbers.append(value)
            case .objectID, .uuid: texts.append(constant.identifierText ?? "")
            case .string(let bytes):
                let string = String(validating: bytes, as: UTF8.self)
                if let string, !bytes.contains(0), bytes.first != UInt8(ascii: "{") {
                    texts.append(string)
                } else {
                    others.append(bytes)
                }
            default: return .undecided(bound)
            }
        }
        guard others.count <= Self.mostSingleConstants else { return .undecided(bound) }
        var pieces: [SQLPiece] = []
        if !numbers.isEmpty { pieces.append(.sql(isOne(of: numbers, operand))) }
        if !texts.isEmpty { pieces.append(.sql(isOne(of: texts, operand))) }
        for bytes in others {
            let string = String(validating: bytes, as: UTF8.self)
            if let string, !bytes.contains(0) {
                pieces.append(.sql(equal(operand, string)))
            } else {
                pieces.append(.sql(equal(operand, tagged: bytes)))
            }
        }
        return .any(pieces)
    }

    /// Above, a list is one parameter: the number of parameters is limited, too.
    private static let mostSingleConstants = 20

    private mutating func isOne(of numbers: [Int64], _ operand: SQLOperand) -> String {
        let subject = text.dialect == .sqlite ? operand.value : operand.json
        if numbers.count <= Self.mostSingleConstants {
            let list = numbers.map {
                text.dialect == .sqlite ? text.bind($0) : text.bind(json: "\($0)")
            }
            return "\(subject) IN (\(list.joined(separator: ", ")))"
        }
        let list = "[" + numbers.map(String.init).joined(separator: ",") + "]"
        switch text.dialect {
        case .sqlite:
            return "\(subject) IN (SELECT value FROM json_each(\(text.bind(list))))"
        case .postgreSQL:
            return
                "\(subject) IN (SELECT value FROM jsonb_array_elements(\(text.bind(json: list))))"
        }
    }

    private mutating func isOne(of texts: [String], _ operand: SQLOperand) -> String {
        if texts.count <= Self.mostSingleConstants {
            let list = texts.map { text.bind($0) }
            return "\(operand.value) IN (\(list.joined(separator: ", ")))"
        }
        let list = "[" + texts.map { JSONString.quoted($0) }.joined(separator: ",") + "]"
        switch text.dialect {
        case .sqlite:
            return "\(operand.value) IN (SELECT value FROM json_each(\(text.bind(list))))"
        case .postgreSQL:
            return "\(operand.value) IN "
                + "(SELECT value FROM jsonb_array_elements_text(\(text.bind(json: list))))"
        }
    }
}
