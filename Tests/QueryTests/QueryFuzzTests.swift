import Changesets
import Documents
import Query
import Schemas
import TestSupport
import Testing

@Suite("Hostile queries")
struct QueryFuzzTests {
    private static let words = [
        "age", "height", "name", "money", "anything", "tags", "scores", "notes", "friend", "born",
        "==", "!=", "<", "<=", ">", ">=", "IN", "BETWEEN", "BEGINSWITH", "CONTAINS[c]", "LIKE",
        "AND", "OR", "NOT", "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", "ANY",
        "ALL", "NONE", "1", "-1", "2.5", "1e308", "nan", "-inf", "'a'", "\"*?\"", "B64\"YQ==\"",
        "NULL",
        "true", "T1:2", "2020-01-01@00:00:00", "oid(0123456789abcdef01234567)", "@count", "@max",
        "@links", "@type", "@keys", "SUBQUERY", "$x", "SORT", "LIMIT", "TRUEPREDICATE", "obj(",
        "binary(", "9223372036854775807", "0x7f", "010", "'é'", "\\ ", "'", "\u{0}",
    ]

    @Test("Random words end with an error or a query that can be written and evaluated")
    func randomWords() {
        var accepted = 0
        for seed in UInt64(0)..<30_000 {
            var random = SplitMix64(seed: seed)
            let count = Int.random(in: 1...12, using: &random)
            let text = (0..<count).map { _ in Self.words.randomElement(using: &random) ?? "" }
                .joined(separator: Bool.random(using: &random) ? " " : "")
            if exercise(Array(text.utf8), "seed \(seed)") { accepted += 1 }
        }
        print("query fuzz: \(accepted) of 30000 random texts accepted")
        #expect(accepted > 0)
    }

    @Test("Random comparisons are mostly accepted, and their canonical text parses")
    func randomComparisons() {
        var accepted = 0
        for seed in UInt64(0)..<10_000 {
            var random = SplitMix64(seed: seed)
            let text = comparison(depth: 3, &random)
            if exercise(Array(text.utf8), "seed \(seed)") { accepted += 1 }
        }
        print("query fuzz: \(accepted) of 10000 random comparisons accepted")
        #expect(accepted > 1_000)
    }

    @Test("Damaged queries of the recording end with an error or a query")
    func damaged() throws {
        var random = SplitMix64(seed: 7)
        for line in try Vectors.nodes(of: "query/random.jsonl").prefix(1_500) {
            var bytes = try #require(line["text"]?.bytesText).bytes
            for _ in 0..<Int.random(in: 1...4, using: &random) where !bytes.isEmpty {
                let index = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes.remove(at: index)
                case 1: bytes[index] = UInt8.random(in: .min ... .max, using: &random)
                default: bytes.insert(bytes[bytes.count - 1 - index], at: index)
                }
            }
            _ = JoinedQuery.parts(of: bytes)
            let query = try? QueryParser.parse(bytes)
            let realm = try VectorRealm.shared.get()
            for className in ["Scalars", "Coll"] as [Text] {
                guard let query,
                    let checked = try? QueryChecker.check(query, of: className, in: realm.schema)
                else { continue }
                let evaluator = QueryEvaluator(checked)
                for object in realm.objects(of: className).prefix(5) {
                    _ = evaluator.matches(object)
                }
                _ = CanonicalText.write(checked)
            }
        }
    }

    /// Exercises every use of a query. Returns whether it was accepted.
    private func exercise(_ text: [UInt8], _ name: String) -> Bool {
        guard let query = try? QueryParser.parse(text),
            let checked = try? QueryChecker.check(
                query,
                of: SampleObject.className,
                in: SampleObject.schema
            )
        else { return false }
        let evaluator = QueryEvaluator(checked)
        _ = evaluator.matches(SampleObject())
        let canonical = CanonicalText.write(checked)
        guard let again = try? QueryParser.parse(canonical),
            let checkedAgain = try? QueryChecker.check(
                again,
                of: SampleObject.className,
                in: SampleObject.schema
            )
        else { return true }
        // Written twice, the operands change their order again, but none is lost or added.
        let rewritten = CanonicalText.write(checkedAgain)
        let shown = "\(Text(bytes: canonical)) -> \(Text(bytes: rewritten))"
        #expect(
            Self.withoutParentheses(rewritten) == Self.withoutParentheses(canonical),
            "\(name): \(shown)"
        )
        return true
    }

    /// All other bytes, sorted.
    private static func withoutParentheses(_ text: [UInt8]) -> [UInt8] {
        text.filter { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: ")") }.sorted()
    }

    private func comparison(depth: Int, _ random: inout SplitMix64) -> String {
        if depth > 0, Bool.random(using: &random) {
            let left = comparison(depth: depth - 1, &random)
            let right = comparison(depth: depth - 1, &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return "NOT (\(left))"
            case 1: return "(\(left)) AND \(right)"
            case 2: return "\(left) OR \(right)"
            default: return "(\(left) or \(right)) and \(left)"
            }
        }
        let property =
            ["age", "height", "name", "scores", "tags", "anything", "money"]
            .randomElement(using: &random) ?? ""
        let operation =
            ["==", "!=", "<", ">=", "CONTAINS", "LIKE[c]", "IN"]
            .randomElement(using: &random) ?? ""
        let value =
            ["1", "-7", "'a'", "NULL", "{1, 'a', NULL}", "{}", "age", "height + 1", "'*?*'"]
            .randomElement(using: &random) ?? ""
        return "\(property) \(operation) \(value)"
    }
}
