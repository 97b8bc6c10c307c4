import Changesets
import Documents
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
    private static let step = 5

    @Test("What a subscription may use is found in SQLite as the evaluator finds it")
    func sqlite() throws {
        let realm = try VectorRealm.shared.get()
        let rules = SubscriptionRules(schema: realm.schema)
        let form = JSONForm(schema: realm.schema)
        var tables: [Text: (objects: [VectorObject], table: SQLiteDocuments)] = [:]
        var exact = 0
        var evaluated = 0
        for file in ["hand.jsonl", "random.jsonl"] {
            // All of them agree as well, but take over a minute in a debug build.
            for (number, line) in try Vectors.nodes(of: "query/" + file).enumerated()
            where number % Self.step == 0 {
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
                    tables[className] = (objects, try SQLiteDocuments(documents))
                }
                guard let (objects, table) = tables[className] else { continue }
                let translation = try Translation(query, .sqlite, objects, table)
                #expect(translation.failure == nil, "\(recorded.name): \(recorded.text)")
                if translation.needsEvaluation { evaluated += 1 } else { exact += 1 }
            }
        }
        print("query SQL: \(exact) recorded queries exact, \(evaluated) with evaluation")
        #expect(exact > 5_000 / Self.step)
    }
}
