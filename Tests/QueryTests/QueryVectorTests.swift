import Changesets
import Documents
import Query
import Schemas
import TestSupport
import Testing

@Suite(
    "Queries recorded from the reference implementation",
    .enabled(if: Vectors.areRequiredOrPresent, "the golden vectors are not here")
)
struct QueryVectorTests {
    @Test("Queries written by hand parse, match and are written as recorded")
    func hand() throws {
        try check("hand.jsonl")
    }

    @Test("Random queries parse, match and are written as recorded")
    func random() throws {
        try check("random.jsonl")
    }

    @Test("Subscription sets give the recorded body, and its queries match as recorded")
    func joined() throws {
        let realm = try VectorRealm.shared.get()
        let sets = try Vectors.nodes(of: "query/joined.jsonl").map { try RecordedSet($0) }
        var queries = 0
        for set in sets {
            #expect(set.writtenBody == set.body, "\(set.name)")
            for joined in set.joined {
                queries += 1
                check(joined, joined.failures(in: realm))
            }
        }
        print("query vectors: \(sets.count) subscription sets with \(queries) joined queries")
        #expect(!sets.isEmpty)
    }

    @Test("Each class of a recorded body is split into the queries that were joined")
    func splitting() throws {
        for set in try Vectors.nodes(of: "query/joined.jsonl").map({ try RecordedSet($0) }) {
            for (className, texts) in set.queries {
                let distinct = Set(texts).sorted { $0.lexicographicallyPrecedes($1) }
                let parts = JoinedQuery.parts(of: JoinedQuery.join(texts)).map { Array($0) }
                #expect(parts == distinct, "\(set.name) \(className)")
            }
        }
    }

    @Test("A recorded body is read as the queries that were joined, and written unchanged")
    func bodies() throws {
        var accepted = 0
        var refused = 0
        let realm = try VectorRealm.shared.get()
        let rules = SubscriptionRules(schema: realm.schema)
        for set in try Vectors.nodes(of: "query/joined.jsonl").map({ try RecordedSet($0) }) {
            let body = try SubscriptionSetBody(decoding: set.body)
            #expect(body == SubscriptionSetBody(joining: set.queries), "\(set.name)")
            #expect(body.encoded == set.body, "\(set.name)")
            do throws(SubscriptionSetError) {
                let checked = try rules.check(body)
                #expect(Set(checked.queries.keys) == Set(set.queries.keys))
                accepted += 1
            } catch {
                // The recorded client sends anything that its own query engine can evaluate.
                guard case .query(_, let refusal) = error else {
                    Issue.record("\(set.name): \(error)")
                    continue
                }
                #expect(
                    [.subscription, .syntax, .type, .argument].contains(refusal.code),
                    "\(set.name): \(error)"
                )
                refused += 1
            }
        }
        print("query vectors: \(accepted) recorded bodies accepted, \(refused) refused")
        #expect(accepted > 0 && refused > 0)
    }

    private func check(_ file: String) throws {
        let realm = try VectorRealm.shared.get()
        let lines = try Vectors.nodes(of: "query/" + file)
        let folder = file == "random.jsonl" ? "random/" : ""
        var exceptions = 0
        for line in lines {
            let query = try RecordedQuery(line)
            if check(query, query.failures(in: realm)) { exceptions += 1 }
        }
        print("query vectors: \(lines.count) of \(file), of which \(exceptions) are exceptions")
        let expected = RecordedExceptions.reasons.keys.count {
            !$0.hasPrefix("joined/") && $0.hasPrefix("random/") == !folder.isEmpty
        }
        #expect(exceptions == expected, "each exception is the name of a recorded query")
        #expect(!lines.isEmpty)
    }

    /// Returns whether the query is an exception, which it then must be.
    @discardableResult
    private func check(_ query: RecordedQuery, _ failures: [String]) -> Bool {
        guard let reason = RecordedExceptions.reasons[query.name] else {
            #expect(failures == [], "\(query.name)")
            return false
        }
        #expect(!failures.isEmpty, "\(query.name) is no longer an exception: \(reason)")
        return true
    }
}
