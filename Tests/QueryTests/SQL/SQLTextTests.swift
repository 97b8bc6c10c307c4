import Changesets
import Documents
import Query
import QuerySQL
import SQLite
import Schemas
import Testing

@Suite("The text of a query in SQL")
struct SQLTextTests {
    private func translated(
        _ text: String,
        _ dialect: SQLDialect = .sqlite,
        firstParameter: Int = 1
    ) throws -> TranslatedQuery {
        TranslatedQuery(
            try SampleQuery.checked(text),
            dialect,
            firstParameter: firstParameter
        )
    }

    @Test(
        "A comparison has the form of its index",
        arguments: [
            (
                "name == 'x'", "(document ->> '$.name') = ?1",
                "(document ->> 'name') = $1::text"
            ),
            (
                "age > 3", "(document ->> '$.age') > ?1",
                "((document -> 'age') > $1::jsonb AND jsonb_typeof((document -> 'age')) = 'number')"
            ),
            (
                "age >= 1.5", "(document ->> '$.age') > ?1",
                "((document -> 'age') > $1::jsonb AND jsonb_typeof((document -> 'age')) = 'number')"
            ),
            ("age == 1.5", "FALSE", "FALSE"),
            (
                "active == true and _id IN {1, 2}",
                "((document ->> '$.active') = ?1 AND (document ->> '$._id') IN (?2, ?3))",
                "((document -> 'active') = $1::jsonb AND "
                    + "(document -> '_id') IN ($2::jsonb, $3::jsonb))"
            ),
            ("TRUEPREDICATE", "TRUE", "TRUE"),
            (
                "name != NULL", "(document ->> '$.name') IS NOT NULL",
                "(document ->> 'name') IS NOT NULL"
            ),
            (
                "NOT age == 3", "((document ->> '$.age') = ?1) IS NOT TRUE",
                "((document -> 'age') = $1::jsonb) IS NOT TRUE"
            ),
        ]
    )
    func forms(_ query: String, _ sqlite: String, _ postgreSQL: String) throws {
        for (dialect, text) in [(SQLDialect.sqlite, sqlite), (.postgreSQL, postgreSQL)] {
            let translated = try translated(query, dialect)
            #expect(!translated.needsEvaluation)
            #expect(translated.candidates.text == text)
        }
    }

    @Test("Constants are parameters")
    func parameters() throws {
        let hostile = "x'); DROP TABLE object; --"
        for dialect in SQLDialect.allCases {
            let text = "name == \"\(hostile)\" or name CONTAINS \"\(hostile)\""
            let query = try translated(text, dialect)
            #expect(query.candidates.parameters == [.text(hostile), .text(hostile)])
            #expect(!query.candidates.text.contains("DROP"))
        }
    }

    @Test("Both conditions fit into one statement")
    func numbering() throws {
        let query = try translated("name > 'a' and age == 1", firstParameter: 5)
        let certain = try #require(query.certain)
        #expect(query.candidates.text.contains("?5") && query.candidates.text.contains("?6"))
        #expect(certain.text.contains("?7") && certain.text.contains("?8"))
        #expect(query.candidates.parameters == certain.parameters)
    }

    @Test(
        "What SQL cannot decide is left to the evaluator",
        arguments: [
            "age > height", "age + 1 == 3", "money == 1.5", "photo > binary('a')",
            "anything > 3", "name CONTAINS[c] 'Ä'", "name LIKE '*a*b*c*d*e*'",
            "born > T0:1000000000",
        ]
    )
    func undecided(_ text: String) throws {
        #expect(try translated(text).needsEvaluation)
        let query = try translated("(\(text)) and age == 1")
        #expect(query.candidates.text.contains("$.age"))
        #expect(query.certain?.text == "FALSE")
    }

    @Test("A text that looks like the form of another value is not that value")
    func lookalikes() throws {
        let ident = #"{"$oid":"0123456789abcdef01234567"}"#
        let bytes = #"{"$string":{"base64":"eAB5"}}"#
        let documents = try SQLiteDocuments([
            Array(#"{"_id":1,"anything":\#(ident),"name":\#(bytes)}"#.utf8),
            Array(#"{"_id":2,"anything":\#(quoted(ident)),"name":\#(quoted(bytes))}"#.utf8),
        ])
        let identObject = ObjectID(text: Array("0123456789abcdef01234567".utf8)) ?? .zero
        let objects = [
            SampleObject([
                "anything": .scalar(.objectID(identObject)), "name": .scalar(.string("x\0y")),
            ]),
            SampleObject([
                "anything": .scalar(.string(Text(ident))), "name": .scalar(.string(Text(bytes))),
            ]),
        ]
        for (property, text) in [("anything", ident), ("name", bytes), ("name", "x\0y")] {
            let constant = String(decoding: Base64.encode(Array(text.utf8)), as: UTF8.self)
            for sign in ["==", "!="] {
                let query = try SampleQuery.checked("\(property) \(sign) B64\"\(constant)\"")
                let translation = try Translation(query, .sqlite, objects, documents)
                #expect(translation.failure == nil)
                #expect(translation.matches == 1)
            }
        }
    }

    private func quoted(_ text: String) -> String {
        "\"" + text.replacing("\"", with: "\\\"") + "\""
    }

    @Test(
        "An index serves a comparison, also one of several",
        arguments: [
            "name == 'x'", "name == 'x' and age > 3", "name == 'x' or name == 'y'",
            "name IN {'x', 'y'}", "name == 'x' and not age == 4",
        ]
    )
    func indexes(_ text: String) throws {
        let documents = try SQLiteDocuments([])
        try documents.connection.run("CREATE INDEX by_name ON object (document ->> '$.name')")
        let condition = try translated(text).candidates
        let plan = try documents.connection.prepare(
            "EXPLAIN QUERY PLAN SELECT number FROM object WHERE \(condition.text)"
        )
        try plan.bind(condition.parameters.map(\.value))
        var steps: [String] = []
        while try plan.step() {
            steps.append(String(decoding: plan.bytes(at: 3), as: UTF8.self))
        }
        #expect(steps.contains { $0.contains("USING INDEX by_name") }, "\(steps)")
        #expect(!steps.contains { $0.hasPrefix("SCAN object") }, "\(steps)")
    }

    private struct Sample: CustomTestStringConvertible {
        let name: String
        let text: String
        var testDescription: String { name }

        init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }
    }

    private static let samples = [
        Sample("ORs", "age == 1" + String(repeating: " or age == 1", count: 20_000)),
        Sample("ANDs", "name > 'x'" + String(repeating: " and name > 'x'", count: 20_000)),
        Sample("negations", String(repeating: "!", count: 4_000) + "age == 1"),
        Sample(
            "nested conditions",
            String(repeating: "(age == 1 and (name > 'a' or !", count: 1_200) + "age == 3"
                + String(repeating: "))", count: 1_200)
        ),
        Sample(
            "nested conditions on lists",
            String(repeating: "(ANY tags > 'a' and (NONE marks == 1 or !(", count: 1_000)
                + "age == 3" + String(repeating: ")))", count: 1_000)
        ),
        Sample("equal numbers", "age IN {" + String(repeating: "1,", count: 50_000) + "1}"),
        Sample(
            "strings",
            "name IN {" + (0..<50_000).map { "'\($0)'" }.joined(separator: ",") + "}"
        ),
        Sample(
            "ANDs and ORs",
            "height == 1.5"
                + String(repeating: " or height == 1.5 and age == 2", count: 5_000)
        ),
    ]

    @Test("Queries of hostile size give statements that SQLite accepts", arguments: samples)
    private func hostileSizes(_ sample: Sample) throws {
        let documents = try SQLiteDocuments([Array(#"{"_id":1,"age":1,"name":"y"}"#.utf8)])
        let query = try SampleQuery.checked(sample.text)
        let object = SampleObject(["age": .scalar(.int(1)), "name": .scalar(.string("y"))])
        let translation = try Translation(query, .sqlite, [object], documents)
        #expect(translation.failure == nil)
        #expect(TranslatedQuery(query, .sqlite).candidates.parameters.count < 1_000)
    }
}
