/// A refused query: position, problem and remedy.
package struct QueryError: Error, Hashable, Sendable {
    package let code: Code
    /// The start of the mistake, counted from 1 in Unicode scalars; line breaks count as one.
    package let column: Int
    package let message: String
    /// Begins with what to do.
    package let remedy: String

    package init(code: Code, column: Int, message: String, remedy: String) {
        self.code = code
        self.column = column
        self.message = message
        self.remedy = remedy
    }

    /// Stable names for logs and callers; the texts beside them may change.
    package enum Code: String, Hashable, Sendable, CaseIterable {
        /// The text does not follow the grammar, or a constant is malformed.
        case syntax = "query.syntax"
        /// The text, its nesting or its subqueries exceed a limit.
        case limit = "query.limit"
        /// The class, or a property of it, does not exist.
        case unknownName = "query.unknown-name"
        /// The two sides of a comparison, or an operator and its operand, do not match.
        case type = "query.type"
        /// An argument such as `$0` or an operand of arithmetic has no usable value.
        case argument = "query.argument"
        /// Subscriptions may not use this (flexible sync, 12.3).
        case subscription = "query.subscription"
        /// The property is not a queryable field (flexible sync, 12.7).
        case notQueryable = "query.not-queryable"
        /// The query does not pin the indexed queryable field (flexible sync, 12.8).
        case indexedField = "query.indexed-field"
    }
}

extension QueryError: CustomStringConvertible {
    package var description: String { "column \(column): \(message); \(remedy)" }
}

/// A mistake at a byte offset, before its text is known.
struct LocatedProblem: Error {
    let code: QueryError.Code
    let offset: Int
    let message: String
    let remedy: String

    init(_ code: QueryError.Code, at offset: Int, _ message: String, remedy: String) {
        self.code = code
        self.offset = offset
        self.message = message
        self.remedy = remedy
    }

    func located(in text: [UInt8]) -> QueryError {
        QueryError(
            code: code,
            column: TextColumn.column(of: offset, in: text),
            message: message,
            remedy: remedy
        )
    }
}

/// Columns of a text, for people.
enum TextColumn {
    /// Unicode scalars before the offset, plus one. Stray continuation bytes are not counted.
    static func column(of offset: Int, in text: [UInt8]) -> Int {
        1 + text.prefix(offset).reduce(0) { $1 & 0xc0 == 0x80 ? $0 : $0 + 1 }
    }
}
