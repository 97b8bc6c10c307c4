import Changesets
import Documents
import PostgreSQLFixtures
import Query
import QuerySQL
import Schemas
import TestSupport
import Testing

@Suite(
    "Recorded queries in SQL",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct SQLVectorTests {
    @Test("What a subscription may use is found in SQLite as the evaluator finds it")
    func sqlite() throws {
        // All of them agree as well, but take over a minute in a debug build.
        let counts = try compare(.sqlite, every: 5) { try SQLiteDocuments($0) }
        print("query SQL: recorded queries in SQLite: \(counts)")
        #expect(counts.exact > 1_000)
    }

    @Test(
        "What a subscription may use is found in PostgreSQL as the evaluator finds it",
        .enabled(
            if: PostgreSQLInstallation.isRequiredOrPresent,
            "\(PostgreSQLInstallation.absence)"
        )
    )
    func postgreSQL() throws {
        let counts = try compare(.postgreSQL, every: 20) { try PostgreSQLDocuments($0) }
        print("query SQL: recorded queries in PostgreSQL: \(counts)")
        #expect(counts.exact > 250)
    }

    private func compare<Table: DocumentTable>(
        _ dialect: SQLDialect,
        every step: Int,
        _ makeTable: ([[UInt8]]) throws -> Table
    ) throws -> SQLCounts {
        let realm = try VectorRealm.shared.get()
        let rules = SubscriptionRules(schema: realm.schema)
        let form = JSONForm(schema: realm.schema)
        var tables: [Text: (objects: [VectorObject], table: Table)] = [:]
        var counts = SQLCounts()
        for file in ["hand.jsonl", "random.jsonl"] {
            for (number, line) in try Vectors.nodes(of: "query/" + file).enumerated()
            where number % step == 0 {
                let recorded = try RecordedQuery(line)
                let className = recorded.className
                guard let query = try? rules.check(recorded.text.bytes, of: className) else {
                    continue
                }
                if tables[className] == nil {
                    let objects = realm.objects(of: className)
                    let documents = objects.map {
                        form.encode(
                            $0.row.document,
                            key: $0.row.reference.key,
                            of: $0.row.schema
                        )
                    }
                    tables[className] = (objects, try makeTable(documents))
                }
                guard let (objects, table) = tables[className] else { continue }
                let translation = try Translation(query, dialect, objects, table)
                #expect(translation.failure == nil, "\(recorded.name): \(recorded.text)")
                counts.add(translation)
            }
        }
        return counts
    }
}
