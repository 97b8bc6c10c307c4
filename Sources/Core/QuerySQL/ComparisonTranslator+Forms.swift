import Changesets
import Documents
import JSON
import Query
import Schemas

/// Values whose form in JSON decides how much of the comparison SQL can decide.
extension ComparisonTranslator {
    // MARK: Dates

    /// Text order is time order for the years 0 to 9999; texts of other years begin with `@`, which
    /// is above all digits.
    mutating func date(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard case .date(let date) = comparison.constants[0],
            let timestamp = Timestamp(seconds: date.seconds, nanoseconds: Int64(date.nanoseconds)),
            let sign = comparison.operation.sign,
            let constant = form(.timestamp(timestamp), .timestamp).flatMap({ Self.unquoted($0) })
        else { return .undecided(bound) }
        if comparison.operation.isEquality { return .sql(compared(operand, sign, constant)) }
        guard constant.utf8.first != UInt8(ascii: "@") else { return .undecided(bound) }
        let isOtherYear = compared(operand, ">=", "@")
        let condition = compared(operand, sign, constant)
        return switch bound {
        case .wide: .sql("(\(condition) OR \(isOtherYear))")
        case .narrow: .sql("(\(condition) AND NOT \(isOtherYear))")
        }
    }

    // MARK: Floating-point numbers

    /// NaN, infinities and -0.0 are objects. Other numbers are the shortest text that reads back as
    /// the same number; such texts have the order of their numbers.
    ///
    /// jsonb compares them as decimals. SQLite rounds them to its own doubles, in which neighbours
    /// may become equal: there only the text decides on equality.
    mutating func fraction(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard let sign = comparison.operation.sign, let number = shortest(comparison) else {
            return .undecided(bound)
        }
        let isZero = Double(number) == 0
        if comparison.operation.isEquality {
            let side = comparison.operation == .notEqual ? bound.opposite : bound
            let equal = equality(operand, number, isZero: isZero, side)
            return comparison.operation == .notEqual ? equal.inverse : equal
        }
        switch text.dialect {
        case .postgreSQL:
            let isOrdered = json(operand, sign, number, type: "number")
            return bound == .wide ? .any([isOrdered, .sql(operand.isTagged)]) : isOrdered
        case .sqlite:
            let strict = String(sign.prefix(1))
            let limit = "CAST(\(text.bind(number)) AS REAL)"
            return switch bound {
            case .wide: .sql("(\(operand.value) \(strict)= \(limit) OR \(operand.isTagged))")
            case .narrow:
                .sql("(\(operand.value) \(strict) \(limit) AND NOT \(operand.isTagged))")
            }
        }
    }

    private mutating func equality(
        _ operand: SQLOperand,
        _ number: String,
        isZero: Bool,
        _ bound: Bound
    ) -> SQLPiece {
        // -0.0 is equal to 0, and an object.
        let mayBeTagged = isZero && bound == .wide
        switch text.dialect {
        case .postgreSQL:
            let isEqual = SQLPiece.sql("\(operand.json) = \(text.bind(json: number))")
            return mayBeTagged ? .any([isEqual, .sql(operand.isTagged)]) : isEqual
        case .sqlite:
            guard bound == .wide else {
                return operand.isElement
                    ? .constant(false) : .sql("\(operand.json) = \(text.bind(number))")
            }
            let isEqual = SQLPiece.sql("\(operand.value) = CAST(\(text.bind(number)) AS REAL)")
            return mayBeTagged ? .any([isEqual, .sql(operand.isTagged)]) : isEqual
        }
    }

    /// The constant as documents have it; nil unless a value of the property's type is exactly equal.
    private func shortest(_ comparison: OutlinedComparison) -> String? {
        let exact: Double
        switch comparison.constants[0] {
        case .int(let value):
            guard let double = Double(exactly: value) else { return nil }
            exact = double
        case .float(let value): exact = Double(value)
        case .double(let value): exact = value
        default: return nil
        }
        guard exact.isFinite else { return nil }
        // Zero without its sign.
        guard comparison.field.type == .float else { return (exact == 0 ? 0 : exact).description }
        return Float(exactly: exact).map { ($0 == 0 ? 0 : $0).description }
    }

    // MARK: Mixed

    /// Equality with a constant whose form is that of no other value. The evaluator decides on
    /// numbers, order and text.
    mutating func mixed(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard comparison.operation.isEquality, !comparison.ignoresCase else {
            return .undecided(bound)
        }
        let isEqual: String
        switch comparison.constants[0] {
        case .bool(let value):
            isEqual =
                text.dialect == .sqlite
                ? "\(operand.type) = '\(value)'"
                : "\(operand.json) = \(text.bind(json: "\(value)"))"
        case .string(let bytes):
            if let string = String(validating: bytes, as: UTF8.self), !bytes.contains(0) {
                isEqual =
                    text.dialect == .sqlite
                    ? "(\(operand.value) = \(text.bind(string)) AND \(operand.type) = 'text')"
                    : "\(operand.json) = \(text.bind(json: JSONString.quoted(string)))"
            } else {
                guard let json = form(.string(Text(bytes: bytes)), .mixed) else {
                    return .undecided(bound)
                }
                isEqual = equal(operand, object: json)
            }
        case .binary, .date, .objectID, .uuid:
            guard let scalar = comparison.constants[0].scalar, let json = form(scalar, .mixed)
            else { return .undecided(bound) }
            isEqual = equal(operand, object: json)
        default:
            return .undecided(bound)
        }
        let piece = SQLPiece.sql(isEqual)
        return comparison.operation == .notEqual ? piece.inverse : piece
    }

    /// The JSON of a value in a document.
    private func form(_ scalar: Scalar, _ type: PropertyType) -> String? {
        let property = PropertySchema(name: "value", type: type, isNullable: true)
        let json = JSONForm(schema: RealmSchema()).encode(.scalar(scalar), of: property)
        return String(validating: json, as: UTF8.self)
    }

    /// A string without escapes.
    private static func unquoted(_ json: String) -> String? {
        json.hasPrefix("\"") ? String(json.dropFirst().dropLast()) : nil
    }
}

extension QueryValue {
    /// As the value of a Mixed property.
    fileprivate var scalar: Scalar? {
        switch self {
        case .binary(let bytes): .binary(bytes)
        case .date(let date):
            Timestamp(seconds: date.seconds, nanoseconds: Int64(date.nanoseconds))
                .map { .timestamp($0) }
        case .objectID(let value): .objectID(value)
        case .uuid(let value): .uuid(value)
        default: nil
        }
    }
}
