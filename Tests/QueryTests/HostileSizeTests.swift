import Changesets
import Documents
import Query
import Schemas
import Testing

/// Texts of the largest size that a peer may send. In a release build each takes well below 50 ms;
/// the tests allow for a debug build on a busy machine.
@Suite("Queries of hostile size")
struct HostileSizeTests {
    private static let size = 256 << 10

    private struct Sample: CustomTestStringConvertible {
        let name: String
        let text: String
        var testDescription: String { name }

        init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }
    }

    private static let samples: [Sample] = [
        Sample("open parentheses", String(repeating: "(", count: size)),
        Sample("closed parentheses", deep(size / 2 - 4)),
        Sample("as many parentheses as allowed", deep(4_000)),
        Sample("negations", String(repeating: "!", count: size) + "age == 1"),
        Sample("negations as allowed", String(repeating: "!", count: 4_000) + "age == 1"),
        Sample("braces", String(repeating: "{", count: size)),
        Sample("brackets", "tags" + String(repeating: "[0]", count: size / 3)),
        Sample("ORs", chain("or", size / 12)),
        Sample("ANDs", chain("and", size / 13)),
        Sample("ANDs and ORs", mixed(size / 30)),
        Sample("nested ANDs and ORs", nested(1_900)),
        Sample("sums", "age" + String(repeating: " + 1", count: size / 4) + " == 1"),
        Sample("constant sums", "age == 1" + String(repeating: " * 3", count: size / 4)),
        Sample(
            "nested sums",
            String(repeating: "(1 + ", count: 3_900) + "age"
                + String(repeating: ")", count: 3_900) + " == 1"
        ),
        Sample("a list", "age IN {" + String(repeating: "1,", count: size / 2) + "1}"),
        Sample(
            "a list of strings",
            "height == {" + String(repeating: "'a',", count: size / 4) + "1}"
        ),
        Sample("a path", "friend" + String(repeating: ".friend", count: size / 7) + ".age == 1"),
        Sample("a long name", String(repeating: "a", count: size) + " == 1"),
        Sample("a long number", "age == " + String(repeating: "1", count: size)),
        Sample("a long float", "height == 0." + String(repeating: "1", count: size)),
        Sample("a long decimal", "money == 0." + String(repeating: "1", count: size)),
        Sample("a long exponent", "money == 1e" + String(repeating: "9", count: size)),
        Sample("a long string", "name == '" + String(repeating: "a", count: size) + "'"),
        Sample("an open string", "name == '" + String(repeating: "a", count: size)),
        Sample("quotes", String(repeating: "'", count: size)),
        Sample("dates", String(repeating: "1-1-1@1:1:", count: size / 10)),
        Sample("signs", String(repeating: "-", count: size)),
        Sample("backslashes", "a" + String(repeating: "\\ ", count: size / 2) + " == 1"),
        Sample("base64", "name == B64\"" + String(repeating: "YWJj", count: size / 4) + "\""),
        Sample("subqueries", String(repeating: "SUBQUERY(friend, $x, ", count: size / 21)),
        Sample("sorts", "age == 1" + String(repeating: " SORT(age ASC)", count: size / 14)),
        Sample("joined", "(age == 1)" + String(repeating: " OR (age == 1)", count: size / 14)),
    ]

    @Test(
        "Each ends with an error or a query, in time that grows with the text",
        arguments: samples
    )
    private func sizes(_ sample: Sample) throws {
        let text = Array(sample.text.utf8)
        let clock = ContinuousClock()
        let time = clock.measure {
            _ = JoinedQuery.parts(of: text)
            guard let query = try? QueryParser.parse(text),
                let checked = try? QueryChecker.check(
                    query,
                    of: SampleObject.className,
                    in: SampleObject.schema
                )
            else { return }
            _ = QueryEvaluator(checked).matches(SampleObject("age", .int(2)))
            _ = CanonicalText.write(checked)
        }
        print("query size: \(sample.name) took \(time)")
    }

    @Test("Parentheses beyond the limit are refused where they open")
    func nesting() {
        let error = #expect(throws: QueryError.self) {
            try QueryParser.parse(String(repeating: "(", count: 5_000))
        }
        #expect(error?.code == .limit)
        #expect(error?.column == 4_001)
    }

    @Test(
        "LIKE takes linear time",
        arguments: [
            String(repeating: "a*", count: 20_000) + "b",
            String(repeating: "*?a", count: 10_000) + "b",
            "*" + String(repeating: "?", count: 20_000) + "b*",
            "*" + String(repeating: "a", count: 20_000) + "b*",
            String(repeating: "*", count: 100_000) + "b",
        ]
    )
    func like(_ pattern: String) throws {
        let object = SampleObject("name", .string(Text(String(repeating: "a", count: 60_000))))
        let query = try SampleQuery.checked("name LIKE '\(pattern)'")
        let clock = ContinuousClock()
        let evaluator = QueryEvaluator(query, stepLimit: .max)
        let time = clock.measure { #expect(!evaluator.matches(object)) }
        print("query size: LIKE with \(pattern.utf8.count) bytes took \(time)")
    }

    private static func deep(_ depth: Int) -> String {
        String(repeating: "(", count: depth) + "age == 1" + String(repeating: ")", count: depth)
    }

    private static func chain(_ word: String, _ count: Int) -> String {
        "age == 1" + String(repeating: " \(word) age == 1", count: count)
    }

    private static func mixed(_ count: Int) -> String {
        "age == 1" + String(repeating: " and age == 1 or !age == 2", count: count)
    }

    private static func nested(_ depth: Int) -> String {
        String(repeating: "(age == 1 and (age == 2 or ", count: depth) + "age == 3"
            + String(repeating: "))", count: depth)
    }
}
