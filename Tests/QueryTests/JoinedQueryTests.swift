import Changesets
import Query
import Testing

@Suite("Queries joined for one class")
struct JoinedQueryTests {
    @Test("Joining sorts, removes duplicates and adds parentheses")
    func join() {
        #expect(joined(["b == 2", "a > 1", "b == 2"]) == "(a > 1) OR (b == 2)")
        #expect(joined(["a > 1"]) == "(a > 1)")
    }

    @Test(
        "Splitting recovers the queries",
        arguments: [
            ("(a > 1) OR (b == 2)", ["a > 1", "b == 2"]), ("(a > 1)", ["a > 1"]),
            ("(a == \") OR (\") OR (b == ') OR (')", ["a == \") OR (\"", "b == ') OR ('"]),
            ("((a == 1 or b == 2)) OR (!(c == 3))", ["(a == 1 or b == 2)", "!(c == 3)"]),
            ("a > 1", ["a > 1"]), ("(a > 1) or (b == 2)", ["(a > 1) or (b == 2)"]),
            ("(a > 1) OR b == 2", ["(a > 1) OR b == 2"]), ("(a > 1) OR ", ["(a > 1) OR "]),
            ("(a > 1", ["(a > 1"]), ("", [""]), ("(a == 'x", ["(a == 'x"]), ("()", [""]),
            ("(a == \"\\\") OR (\") OR (b == 1)", ["a == \"\\\") OR (\"", "b == 1"]),
        ]
    )
    func split(_ text: String, _ parts: [String]) {
        let found = JoinedQuery.parts(of: Array(text.utf8)).map {
            String(decoding: $0, as: UTF8.self)
        }
        #expect(found == parts)
    }

    private func joined(_ texts: [String]) -> String {
        String(decoding: JoinedQuery.join(texts.map { Array($0.utf8) }), as: UTF8.self)
    }
}

@Suite("The indexed queryable field")
struct IndexedFieldRuleTests {
    private let rule = IndexedFieldRule(field: "age")
    private let rules = SubscriptionRules(schema: SampleObject.schema)

    @Test(
        "A query that pins the field gives its values",
        arguments: [
            ("age == 1", [1]), ("age IN {1, 2} AND height > 3", [1, 2]), ("5 == age", [5]),
            ("age == 1 AND (height < 5 OR height > 6)", [1]),
            ("name == 'a' AND (age == 3 AND height > 1)", [3]),
            ("(age == 1) OR (age == 2 and name == 'a')", [1, 2]),
        ] as [(String, [Int64])]
    )
    func valid(_ text: String, _ values: [Int64]) throws {
        #expect(
            try rule.values(in: Array(text.utf8), of: SampleObject.className, rules)
                == values.map { .int($0) }
        )
    }

    @Test(
        "Others are refused",
        arguments: [
            "TRUEPREDICATE", "height > 1", "age > 2", "age != 1", "age == 1 OR height > 3",
            "age == 1 OR age == 2", "age == 1 AND height < 5 OR height > 6", "NOT age == 1",
            "age BETWEEN {1, 2}", "age == height", "age + 1 == 2",
            "(age == 1) OR (height == 2)", "((age == 1) OR (age == 2))",
        ]
    )
    func invalid(_ text: String) {
        let error = #expect(throws: QueryError.self) {
            try rule.values(in: Array(text.utf8), of: SampleObject.className, rules)
        }
        #expect(error?.code == .indexedField)
    }

    @Test("The second of two joined queries is named by its column")
    func column() {
        let error = #expect(throws: QueryError.self) {
            try rule.values(
                in: Array("(age == 1) OR (height == 2)".utf8),
                of: SampleObject.className,
                rules
            )
        }
        #expect(error?.column == 16)
    }
}
