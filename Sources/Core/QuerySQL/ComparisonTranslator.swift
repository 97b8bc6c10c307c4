import Changesets
import Query
import Schemas

/// Translates one comparison of a property with constants.
struct ComparisonTranslator {
    var text: SQLText

    mutating func translate(_ comparison: OutlinedComparison, _ bound: Bound) -> SQLPiece {
        let parameters = text.parameters.count
        let piece =
            switch comparison.subject {
            case .value: value(comparison, bound)
            case .count: count(comparison, bound)
            case .elements(let quantifier): elements(comparison, quantifier, bound)
            }
        if case .constant = piece { text.forgetParameters(after: parameters) }
        return piece
    }

    // MARK: Subjects

    private mutating func value(_ comparison: OutlinedComparison, _ bound: Bound) -> SQLPiece {
        guard let operand = text.member(comparison.field.name) else { return .undecided(bound) }
        let missing = QueryValue.missing(comparison.field)
        return withNull(operand, comparison.holds(missing), known(comparison, operand, bound))
    }

    /// A null or missing value gives NULL, which must count as its own result.
    private func withNull(
        _ operand: SQLOperand,
        _ holdsForNull: Bool,
        _ known: SQLPiece
    ) -> SQLPiece {
        switch known {
        case .constant(holdsForNull): known
        case .constant: .sql("\(operand.value) IS \(holdsForNull ? "" : "NOT ")NULL")
        case .sql: holdsForNull ? .any([known, .sql("\(operand.value) IS NULL")]) : known
        }
    }

    private mutating func count(_ comparison: OutlinedComparison, _ bound: Bound) -> SQLPiece {
        guard let operation = WholeNumberComparison(comparison) else { return .undecided(bound) }
        switch operation {
        case .constant(let isTrue): return .constant(isTrue)
        case .compared(let sign, let limit):
            guard let count = text.count(of: comparison.field.name) else {
                return .undecided(bound)
            }
            return .sql("\(count) \(sign) \(text.bind(limit))")
        }
    }

    private mutating func elements(
        _ comparison: OutlinedComparison,
        _ quantifier: Quantifier,
        _ bound: Bound
    ) -> SQLPiece {
        guard let table = text.elements(of: comparison.field.name) else { return .undecided(bound) }
        let operand = text.element
        let element = known(comparison, operand, quantifier == .none ? bound.opposite : bound)
        // A collection has no missing elements, but may have null ones.
        let piece = withNull(operand, comparison.holds(.null), element)
        switch quantifier {
        case .any: return .sql("EXISTS (SELECT 1 FROM \(table) WHERE \(piece.text))")
        case .none: return .sql("NOT EXISTS (SELECT 1 FROM \(table) WHERE \(piece.text))")
        case .all: return .sql("NOT EXISTS (SELECT 1 FROM \(table) WHERE \(piece.negated.text))")
        }
    }

    // MARK: Values that are not null

    /// For values that are neither null nor missing; for those it may be anything but true if the
    /// comparison does not hold for null.
    private mutating func known(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        if comparison.operation == .in { return membership(comparison, operand, bound) }
        let constant = comparison.constants[0]
        if constant == .null {
            // All values but null compare alike with null.
            return .constant(comparison.holds(.sample(comparison.field.type)))
        }
        switch comparison.field.type {
        case .int: return whole(comparison, operand, bound)
        case .bool: return bool(comparison, operand, bound)
        case .string: return string(comparison, operand, bound)
        case .binary: return binary(comparison, operand, bound)
        case .timestamp: return date(comparison, operand, bound)
        case .float, .double: return fraction(comparison, operand, bound)
        case .objectID, .uuid: return identifier(comparison, operand, bound)
        case .mixed: return mixed(comparison, operand, bound)
        case .decimal, .link: return .undecided(bound)
        }
    }

    private mutating func whole(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        switch WholeNumberComparison(comparison) {
        case nil: return .undecided(bound)
        case .constant(let isTrue): return .constant(isTrue)
        case .compared(let sign, let limit):
            guard text.dialect == .postgreSQL else {
                return .sql("\(operand.value) \(sign) \(text.bind(limit))")
            }
            return json(operand, sign, "\(limit)", type: "number")
        }
    }

    /// A number or boolean of jsonb, whose order is that of the value within its type.
    mutating func json(
        _ operand: SQLOperand,
        _ sign: String,
        _ constant: String,
        type: String
    ) -> SQLPiece {
        let compared = "\(operand.json) \(sign) \(text.bind(json: constant))"
        if sign == "=" || sign == "<>" { return .sql(compared) }
        return .sql("(\(compared) AND \(operand.type) = '\(type)')")
    }

    private mutating func bool(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard case .bool(let constant) = comparison.constants[0],
            let sign = comparison.operation.sign
        else { return .undecided(bound) }
        guard text.dialect == .postgreSQL else {
            return .sql("\(operand.value) \(sign) \(text.bind(constant ? 1 : 0))")
        }
        return json(operand, sign, "\(constant)", type: "boolean")
    }

    /// ObjectIds and UUIDs: their texts have the order of their bytes.
    private mutating func identifier(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard let constant = comparison.constants[0].identifierText,
            let sign = comparison.operation.sign
        else { return .undecided(bound) }
        return .sql(compared(operand, sign, constant))
    }

    /// Texts by their bytes.
    mutating func compared(_ operand: SQLOperand, _ sign: String, _ constant: String) -> String {
        let isOrder = sign != "=" && sign != "<>"
        let collation = isOrder && text.dialect == .postgreSQL ? " COLLATE \"C\"" : ""
        return "\(operand.value)\(collation) \(sign) \(text.bind(constant))"
    }

    private mutating func binary(
        _ comparison: OutlinedComparison,
        _ operand: SQLOperand,
        _ bound: Bound
    ) -> SQLPiece {
        guard case .binary(let bytes) = comparison.constants[0], !comparison.ignoresCase,
            comparison.operation.isEquality, let sign = comparison.operation.sign
        else { return .undecided(bound) }
        let constant = String(decoding: Base64.encode(bytes), as: UTF8.self)
        return .sql(compared(operand, sign, constant))
    }
}

extension ComparisonOperator {
    /// In SQL; nil for those of text.
    var sign: String? {
        switch self {
        case .equal: "="
        case .notEqual: "<>"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        case .in, .beginsWith, .endsWith, .contains, .like, .text: nil
        }
    }

    var isEquality: Bool { self == .equal || self == .notEqual }
}

extension QueryValue {
    /// The text of an ObjectId or UUID in documents.
    var identifierText: String? {
        switch self {
        case .objectID(let value): String(decoding: value.text, as: UTF8.self)
        case .uuid(let value): String(decoding: value.text, as: UTF8.self)
        default: nil
        }
    }

    /// The value of a property that the document lacks (flexible sync, 12.6).
    static func missing(_ field: QueryField) -> QueryValue {
        guard !field.isNullable else { return .null }
        return switch field.type {
        case .mixed, .link: .null
        case .int: .int(0)
        case .bool: .bool(false)
        case .string: .string([])
        case .binary: .binary([])
        case .timestamp: QueryValue(Scalar.timestamp(.epoch))
        case .float: .float(0)
        case .double: .double(0)
        case .decimal: QueryValue(Scalar.decimal(.zero))
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        }
    }

    /// Any value of the type.
    static func sample(_ type: PropertyType) -> QueryValue {
        switch type {
        case .mixed, .bool: .bool(true)
        case .int: .int(1)
        case .string: .string([0x78])
        case .binary: .binary([0x78])
        case .timestamp: QueryValue(Scalar.timestamp(.epoch))
        case .float: .float(1)
        case .double: .double(1)
        case .decimal: QueryValue(Scalar.decimal(.zero))
        case .objectID: .objectID(.zero)
        case .uuid: .uuid(.zero)
        case .link: .null
        }
    }
}
