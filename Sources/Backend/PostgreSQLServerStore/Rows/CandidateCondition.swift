import PostgreSQL
import Query
import QuerySQL

/// The condition of objects that may match one of several queries.
struct CandidateCondition {
    let text: String
    let values: [Value]

    /// PostgreSQL numbers parameters with 16 bits.
    private static let mostValues = 30_000

    /// Nil if the queries have too many constants, or names that no text of PostgreSQL can have: the
    /// caller decides on every object.
    init?(_ queries: [CheckedQuery]) {
        var conditions: [String] = []
        var values: [Value] = []
        for query in queries {
            let candidates = TranslatedQuery(
                query,
                .postgreSQL,
                firstParameter: DocumentRows.conditionParameter + values.count
            ).candidates
            guard values.count + candidates.parameters.count <= Self.mostValues,
                !candidates.text.utf8.contains(0)
            else { return nil }
            conditions.append("(\(candidates.text))")
            for parameter in candidates.parameters {
                switch parameter {
                case .integer(let value): values.append(.integer(value))
                case .text(let text):
                    guard !text.utf8.contains(0) else { return nil }
                    values.append(.string(text))
                }
            }
        }
        text = conditions.joined(separator: " OR ")
        self.values = values
    }
}
