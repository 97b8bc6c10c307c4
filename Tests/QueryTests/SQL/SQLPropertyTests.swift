import Changesets
import PostgreSQLFixtures
import Query
import QuerySQL
import TestSupport
import Testing

@Suite("Random queries in SQL")
struct SQLPropertyTests {
    @Test("The evaluator and SQLite agree on every object of random classes")
    func sqlite() throws {
        let counts = try compare(.sqlite, seeds: 150) { try SQLiteDocuments($0) }
        print("query SQL: random queries in SQLite: \(counts)")
        #expect(counts.exact > 500 && counts.evaluated > 200 && counts.matches > 10_000)
    }

    @Test(
        "The evaluator and PostgreSQL agree on every object of random classes",
        .enabled(
            if: PostgreSQLInstallation.isRequiredOrPresent,
            "\(PostgreSQLInstallation.absence)"
        )
    )
    func postgreSQL() throws {
        let counts = try compare(.postgreSQL, seeds: 50) { try PostgreSQLDocuments($0) }
        print("query SQL: random queries in PostgreSQL: \(counts)")
        #expect(counts.exact > 150 && counts.evaluated > 50 && counts.matches > 3_000)
    }

    private func compare(
        _ dialect: SQLDialect,
        seeds: UInt64,
        _ makeTable: ([[UInt8]]) throws -> some DocumentTable
    ) throws -> SQLCounts {
        var counts = SQLCounts()
        for seed in 0..<seeds {
            var random = SplitMix64(seed: seed)
            let randomClass = RandomClass(using: &random)
            let table = try makeTable(randomClass.documents)
            let rules = SubscriptionRules(schema: randomClass.schema)
            for _ in 0..<40 {
                let text = randomClass.query(using: &random)
                guard let query = try? rules.check(text, of: RandomClass.name) else { continue }
                let translation = try Translation(query, dialect, randomClass.objects, table)
                counts.add(translation)
                #expect(translation.failure == nil, "seed \(seed): \(Text(bytes: text))")
            }
        }
        return counts
    }
}

/// The coverage of a run of random queries.
struct SQLCounts: CustomStringConvertible {
    var exact = 0
    var evaluated = 0
    var matches = 0
    var surplus = 0

    mutating func add(_ translation: Translation) {
        if translation.needsEvaluation { evaluated += 1 } else { exact += 1 }
        matches += translation.matches
        surplus += translation.surplus
    }

    var description: String {
        "\(exact) exact, \(evaluated) with evaluation; \(matches) matches, "
            + "\(surplus) candidates more"
    }
}
