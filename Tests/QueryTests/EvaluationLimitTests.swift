import Changesets
import Documents
import Testing

@testable import Query

/// Flexible sync, 13.6: the work for one object is counted, since a client chooses the query and may choose
/// the object.
@Suite("The work for one object", .timeLimit(.minutes(5)))
struct EvaluationLimitTests {
    private struct Sample: CustomTestStringConvertible {
        let name: String
        let query: String
        let object: SampleObject
        /// More than this is needed, less than a thousand times as much.
        let steps: Int
        var testDescription: String { name }
    }

    private static let long = String(repeating: "a", count: 20_000)

    private static func each(_ condition: String, _ count: Int, by word: String = " or ") -> String
    {
        (0..<count).map { "\(condition)\($0)'" }.joined(separator: word)
    }

    private static let samples = [
        Sample(
            name: "LIKE over a long text",
            query: each("name LIKE '*a*a*a*a*", 40),
            object: SampleObject("name", .string(Text(long))),
            steps: 400_000
        ),
        Sample(
            name: "LIKE with ? over a long text",
            query: "name LIKE '*\(String(repeating: "?a", count: 1_000))b*'",
            object: SampleObject("name", .string(Text(long))),
            steps: 100_000
        ),
        Sample(
            name: "CONTAINS[c] over a long text",
            query: each("name CONTAINS[c] 'b", 40),
            object: SampleObject("name", .string(Text(long))),
            steps: 400_000
        ),
        Sample(
            name: "a long list",
            query: (0..<30).map { "scores == \($0 + 2)" }.joined(separator: " or "),
            object: SampleObject([
                "scores": .list([Value](repeating: .scalar(.int(1)), count: 10_000))
            ]),
            steps: 100_000
        ),
        Sample(
            name: "IN with a long text",
            query: "name IN {'x', 'y'}",
            object: SampleObject("name", .string(Text(long))),
            steps: 10_000
        ),
    ]

    @Test("Beyond the limit an object does not match, also behind NOT", arguments: samples)
    private func limit(_ sample: Sample) throws {
        for text in [sample.query, "!(\(sample.query))"] {
            let query = try SampleQuery.checked(text)
            #expect(!QueryEvaluator(query, stepLimit: sample.steps).matches(sample.object))
        }
        // With enough steps one of the two matches.
        let usual = [sample.query, "!(\(sample.query))"]
        let matching = try usual.filter {
            let query = try SampleQuery.checked($0)
            return QueryEvaluator(query, stepLimit: sample.steps * 1_000).matches(sample.object)
        }
        #expect(matching == [usual[1]])
    }

    @Test("Short objects are never near the limit")
    func shortObjects() throws {
        let text = (0..<5_000).map { "name == 'n\($0)'" }.joined(separator: " or ")
        let query = try SampleQuery.checked("!(\(text))")
        let object = SampleObject("name", .string("x"))
        #expect(QueryEvaluator(query, stepLimit: 5_000).matches(object))
        #expect(!QueryEvaluator(query, stepLimit: 4_000).matches(object))
    }

    @Test(
        "Queries whose work could not be bounded are refused",
        arguments: [
            ("age IN {\((0..<80_000).map(String.init).joined(separator: ","))}", "comparisons"),
            (
                "height IN {\((0..<45_000).map { "\($0).5" }.joined(separator: ","))}",
                "more than"
            ),
            (
                "name LIKE '\(String(repeating: "*a", count: 100_000))'",
                "the pattern of LIKE has 200000 bytes, more than 4096"
            ),
            (
                "name LIKE '\(String(repeating: "?", count: 5_000))'",
                "the pattern of LIKE has 5000 bytes, more than 4096"
            ),
        ]
    )
    func refused(text: String, message: String) throws {
        // Longer than one subscription may be: the other limits are looked at.
        let limits = SubscriptionLimits(querySizeInBytes: 1 << 20)
        let rules = SubscriptionRules(schema: SampleObject.schema, limits: limits)
        let error = #expect(throws: QueryError.self) {
            try rules.check(Array(text.utf8), of: SampleObject.className)
        }
        #expect(error?.code == .limit)
        #expect(error?.description.contains(message) == true, "\(error?.description ?? "")")
    }

    @Test("IN with many constants is cheap, and admitted")
    func inLists() throws {
        let values = (0..<30_000).map(String.init).joined(separator: ",")
        let rules = SubscriptionRules(schema: SampleObject.schema)
        let query = try rules.check(Array("age IN {\(values)}".utf8), of: SampleObject.className)
        #expect(QueryEvaluator(query, stepLimit: 2).matches(SampleObject("age", .int(29_999))))
    }
}
