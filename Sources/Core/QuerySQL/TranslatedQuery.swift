package import Query

/// A query as conditions of SQL on documents (flexible sync, 13.3; server on PostgreSQL, 5).
///
/// The statement around them chooses the class: on documents of other classes a condition has some
/// value, and raises no error.
///
/// A comparison with a constant is written so that an index on the same expression serves it:
/// `(document ->> '$.name')` in SQLite; in PostgreSQL `(document ->> 'name')` for text, dates and ids,
/// and `(document -> 'name')` for numbers and booleans.
package struct TranslatedQuery: Hashable, Sendable {
    /// True for every object that matches, and perhaps for some that do not.
    package let candidates: SQLCondition
    /// True only for objects that match: the evaluator must decide on the other candidates. Nil if all
    /// candidates match.
    package let certain: SQLCondition?

    package var needsEvaluation: Bool { certain != nil }

    /// - Parameters:
    ///   - document: the SQL expression of the document.
    ///   - firstParameter: the number of the first placeholder. Those of `certain` follow those of
    ///     `candidates`, so that one statement can contain both.
    package init(
        _ query: CheckedQuery,
        _ dialect: SQLDialect,
        document: String = "document",
        firstParameter: Int = 1
    ) {
        let outline = QueryOutline(query)
        func condition(_ bound: Bound, from first: Int) -> SQLCondition {
            var translator = ConditionTranslator(
                outline,
                SQLText(dialect, document: document, firstParameter: first)
            )
            return translator.condition(bound)
        }
        let candidates = condition(.wide, from: firstParameter)
        self.candidates = candidates
        self.certain =
            condition(.narrow, from: firstParameter) == candidates
            ? nil
            : condition(.narrow, from: firstParameter + candidates.parameters.count)
    }
}

/// The side on which a condition may differ from the query where SQL cannot decide.
enum Bound {
    /// True for too many objects.
    case wide
    /// True for too few.
    case narrow

    var opposite: Bound { self == .wide ? .narrow : .wide }
}
