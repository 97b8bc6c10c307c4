import Changesets
import Documents
import Query
import QuerySQL
import SQLite
import Schemas
import Testing

/// Objects of one class, as documents in a database.
protocol DocumentTable {
    /// The objects for which the candidates' condition is true, by their positions, and those of
    /// them for which the other one is. Both are in one statement.
    func matches(
        _ candidates: SQLCondition,
        _ certain: SQLCondition?
    ) throws -> (candidates: Set<Int>, certain: Set<Int>)
}

/// Documents in SQLite, in the form of the server's table of objects.
final class SQLiteDocuments: DocumentTable {
    let connection: Connection

    init(_ documents: [[UInt8]]) throws {
        connection = try Connection(path: ":memory:")
        try connection.run(
            "CREATE TABLE object (number INTEGER PRIMARY KEY, document TEXT NOT NULL)"
        )
        try connection.run("BEGIN")
        for (number, document) in documents.enumerated() {
            let text = String(decoding: document, as: UTF8.self)
            try connection.run(
                "INSERT INTO object VALUES (?, ?)",
                [.integer(Int64(number)), .text(text)]
            )
        }
        try connection.run("COMMIT")
    }

    func matches(
        _ candidates: SQLCondition,
        _ certain: SQLCondition?
    ) throws -> (candidates: Set<Int>, certain: Set<Int>) {
        let statement = try connection.prepare(
            "SELECT number, \(certain?.text ?? "TRUE") FROM object WHERE \(candidates.text)"
        )
        let parameters = candidates.parameters + (certain?.parameters ?? [])
        try statement.bind(parameters.map(\.value))
        var found: Set<Int> = []
        var sure: Set<Int> = []
        while try statement.step() {
            let number = Int(statement.integer(at: 0))
            found.insert(number)
            // NULL is read as 0.
            if statement.integer(at: 1) != 0 { sure.insert(number) }
        }
        return (found, sure)
    }
}

extension SQLParameter {
    var value: SQLiteValue {
        switch self {
        case .integer(let number): .integer(number)
        case .text(let text): .text(text)
        }
    }
}

/// A comparison of a translated query with the evaluator, over the same objects.
struct Translation {
    /// The evaluator decided on some candidates.
    let needsEvaluation: Bool
    let matches: Int
    /// Candidates that do not match.
    let surplus: Int
    /// Nil if the conditions are as promised.
    let failure: String?

    init(
        _ query: CheckedQuery,
        _ dialect: SQLDialect,
        _ objects: [some QueryableObject],
        _ table: some DocumentTable
    ) throws {
        let evaluator = QueryEvaluator(query)
        let expected = Set(objects.indices.filter { evaluator.matches(objects[$0]) })
        let translated = TranslatedQuery(query, dialect)
        let (candidates, certain) = try table.matches(translated.candidates, translated.certain)
        needsEvaluation = translated.needsEvaluation
        matches = expected.count
        surplus = candidates.count - expected.count
        var failures: [String] = []
        if !candidates.isSuperset(of: expected) {
            failures.append("missing \(expected.subtracting(candidates).sorted())")
        }
        if !certain.isSubset(of: expected) {
            failures.append("wrongly certain \(certain.subtracting(expected).sorted())")
        }
        failure =
            failures.isEmpty
            ? nil
            : failures.joined(separator: ", ") + " of \(translated.candidates) "
                + "\(translated.certain as Any)"
    }
}
