/// The reason why bytes are not a valid changeset, and its offset (changesets spec, 7).
package struct DecodeError: Error, Hashable, Sendable {
    /// Bytes before the invalid field.
    package let offset: Int
    package let problem: Problem

    package init(at offset: Int, _ problem: Problem) {
        self.offset = offset
        self.problem = problem
    }

    package enum Problem: Hashable, Sendable {
        /// The input ends inside a record.
        case truncated
        /// An integer is longer than its width class allows, or its value is out of range.
        case integerOutOfRange
        /// A field that cannot be negative is negative.
        case negative
        case unknownInstruction(UInt64)
        case unknownPayload(Int64)
        case unknownPrimaryKey(Int64)
        case unknownCollectionType(UInt64)
        case unknownTableKind(UInt64)
        case illegalPrimaryKeyType(TypeCode)
        case globalKeyAsPayload
        /// Intern records must carry 0, 1, 2, … in order.
        case unexpectedInternIndex(UInt64, expected: Int)
        case duplicateInternString
        case undefinedInternIndex(UInt64)
        case stringTooLong(UInt64)
        case pathWithoutIndex
        case timestampOutOfRange
        case decimalOutOfRange
    }
}

extension DecodeError: CustomStringConvertible {
    package var description: String {
        "bad changeset at byte \(offset): \(problem.description)"
    }
}

extension DecodeError.Problem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .truncated: "the input ends inside a record"
        case .integerOutOfRange: "integer out of range"
        case .negative: "negative number where it is not allowed"
        case .unknownInstruction(let code): "unknown instruction type \(code)"
        case .unknownPayload(let code): "unknown payload type \(code)"
        case .unknownPrimaryKey(let code): "\(code) is not the type of a primary key"
        case .unknownCollectionType(let code): "unknown collection type \(code)"
        case .unknownTableKind(let code): "unknown table kind \(code)"
        case .illegalPrimaryKeyType(let code): "a primary key cannot have type \(code.rawValue)"
        case .globalKeyAsPayload: "a global key cannot be a payload"
        case .unexpectedInternIndex(let index, let expected):
            "intern record \(index) where \(expected) is next"
        case .duplicateInternString: "the same string is interned twice"
        case .undefinedInternIndex(let index): "string \(index) is not interned yet"
        case .stringTooLong(let length):
            "a string of \(length) bytes is longer than \(FormatLimits.stringSizeInBytes)"
        case .pathWithoutIndex: "a list instruction needs a path that ends in an index"
        case .timestampOutOfRange: "seconds and nanoseconds do not form a timestamp"
        case .decimalOutOfRange: "coefficient or exponent does not fit 128 bits"
        }
    }
}

/// Sizes that the format fixes (changesets spec, 2.4; instruction semantics, 1.4).
package enum FormatLimits {
    /// Longest string, as a payload or interned.
    package static let stringSizeInBytes = 16_777_199
    /// Longest binary that an applier accepts; the parser has no limit of its own.
    package static let binarySizeInBytes = 16_777_200
    package static let classNameSizeInBytes = 57
    package static let propertyNameSizeInBytes = 63
    /// Deepest nesting of collections in a Mixed value.
    package static let nestingDepth = 100
}
